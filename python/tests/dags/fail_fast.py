from airflow.sdk import DAG
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("fail_fast", schedule=None, fail_fast=True):
    EmptyOperator(task_id="a") >> EmptyOperator(task_id="b")
