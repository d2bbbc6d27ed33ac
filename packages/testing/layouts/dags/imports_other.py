"""Imports a DAG file, and uses what is in it."""
from classic import DEFAULTS, pick
from airflow.operators.python import PythonOperator
from airflow.sdk import DAG

with DAG("imports_other", schedule="@weekly", default_args={**DEFAULTS, "retries": 6}):
    PythonOperator(task_id="pick", python_callable=pick)
