"""Counts the runs of yesterday, straight from the database."""
from datetime import datetime, timedelta

from airflow import DAG
from airflow.models import DagRun
from airflow.operators.python import PythonOperator
from airflow.utils.session import create_session


def count_runs():
    with create_session() as session:
        since = datetime.utcnow() - timedelta(days=1)
        print(session.query(DagRun).filter(DagRun.start_date > since).count())


with DAG("audit", schedule_interval="0 6 * * *", start_date=datetime(2023, 1, 1)) as dag:
    PythonOperator(task_id="count_runs", python_callable=count_runs)
