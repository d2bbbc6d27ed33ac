from airflow.sdk import DAG

with DAG("no_tasks", schedule=None):
    pass
