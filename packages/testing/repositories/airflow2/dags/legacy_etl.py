from datetime import timedelta

from airflow import DAG
from airflow.operators.bash_operator import BashOperator
from airflow.operators.dummy_operator import DummyOperator
from airflow.operators.python_operator import PythonOperator
from airflow.utils.dates import days_ago
from etl.steps import extract, load
from operators.table_operator import TableOperator

default_args = {"owner": "data", "retries": 1, "retry_delay": timedelta(seconds=1)}

with DAG("legacy_etl", default_args=default_args, start_date=days_ago(2), schedule=None, catchup=False) as dag:
    start = DummyOperator(task_id="start")
    extracted = PythonOperator(task_id="extract", python_callable=extract)
    shown = TableOperator(task_id="show", rows=[["apples", 3]])
    loaded = PythonOperator(task_id="load", python_callable=load)
    done = BashOperator(task_id="done", bash_command="echo {{ ds_nodash }}")
    start >> extracted >> [shown, loaded] >> done
