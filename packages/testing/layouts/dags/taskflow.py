"""Orders of a day as TaskFlow, as tutorials begin."""
import json
from datetime import datetime, timedelta

from airflow.sdk import dag, task


@dag(
    schedule="@daily",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    tags=["example", "orders"],
    default_args={"owner": "data", "retries": 2, "retry_delay": timedelta(minutes=3)},
)
def taskflow():
    @task
    def extract() -> dict:
        return json.loads('{"1001": 301.27, "1002": 433.21}')

    @task(multiple_outputs=True, retries=5)
    def transform(orders: dict) -> dict:
        return {"total": sum(orders.values()), "count": len(orders)}

    @task(execution_timeout=timedelta(minutes=5))
    def load(total: float, count: int) -> None:
        print(total, count)

    found = transform(extract())
    load(found["total"], found["count"])


taskflow()
