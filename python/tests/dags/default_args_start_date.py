import pendulum

from airflow.sdk import DAG
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG(
    "default_args_start_date",
    schedule="30 2 * * *",
    default_args={"start_date": pendulum.datetime(2024, 3, 1, tz="America/New_York"), "depends_on_past": True},
):
    EmptyOperator(task_id="a")
    EmptyOperator(task_id="late", start_date=pendulum.datetime(2025, 3, 1, tz="UTC"))
    EmptyOperator(task_id="early", start_date=pendulum.datetime(2020, 3, 1, tz="UTC"))
