"""Is refused because of its circle."""
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG

with DAG("cycle", schedule=None):
    a, b = EmptyOperator(task_id="a"), EmptyOperator(task_id="b")
    a >> b >> a
