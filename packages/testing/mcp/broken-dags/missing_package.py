"""A package that nobody installed where tasks run."""

from airflow.sdk import DAG, task

with DAG("missing_package", schedule=None):

    @task
    def upload() -> None:
        import snowflake.connector

        snowflake.connector.connect()

    @task
    def notify() -> None:
        print("done")

    upload() >> notify()
