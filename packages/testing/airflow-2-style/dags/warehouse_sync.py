from datetime import datetime

from airflow import DAG
from airflow.hooks.postgres_hook import PostgresHook
from airflow.operators.python import PythonOperator


def sync():
    import pandas as pd

    frame = pd.DataFrame(PostgresHook(postgres_conn_id="warehouse").get_records("select 1"))
    print(len(frame))


with DAG("warehouse_sync", schedule_interval=None, start_date=datetime(2023, 1, 1), catchup=False) as dag:
    PythonOperator(task_id="sync", python_callable=sync)
