"""A DAG as authors write it, for the tests of the plugin of pytest."""

from datetime import datetime, timedelta

import pendulum
from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import Asset, Connection, Variable, dag, get_current_context, task

ORDERS = Asset("orders", uri="s3://shop/orders")
REPORT = Asset("report", uri="s3://shop/report")


@dag(schedule="0 2 * * *", start_date=pendulum.datetime(2026, 1, 1, tz="Europe/Berlin"), catchup=False)
def shop():
    @task
    def extract(ds=None):
        print("extracting", ds)
        return [1, 2, 3]

    @task(retries=2, retry_delay=timedelta(hours=1))
    def load(n):
        context = get_current_context()
        if n == 2 and context["ti"].try_number < 2:
            raise ValueError(f"no room for {n}")  # the line of the author
        return n * 10

    @task(outlets=[REPORT])
    def report(total):
        context = get_current_context()
        context["outlet_events"][REPORT].extra = {"total": sum(total)}
        return {
            "total": sum(total),
            "host": Connection.get("warehouse").host,
            "limit": Variable.get("limit", deserialize_json=True),
            "now": datetime.now(pendulum.timezone("Europe/Berlin")).isoformat(),
        }

    approve = ApprovalOperator(task_id="approve", subject="Publish?", response_timeout=timedelta(hours=3))

    @task
    def publish():
        return "published"

    report(load.expand(n=extract())) >> approve >> publish()


shop()
