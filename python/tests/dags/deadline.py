from datetime import datetime, timedelta

from airflow.sdk import DAG, AsyncCallback, DeadlineAlert, DeadlineReference
from airflow.providers.standard.operators.empty import EmptyOperator


async def late(**kwargs):
    pass


with DAG(
    "deadline",
    schedule="@daily",
    start_date=datetime(2024, 1, 1),
    deadline=DeadlineAlert(
        reference=DeadlineReference.DAGRUN_LOGICAL_DATE,
        interval=timedelta(hours=3),
        callback=AsyncCallback("my.module.late", kwargs={"text": "x"}),
    ),
):
    EmptyOperator(task_id="a")
