"""The task before succeeded, but what it should have left is not there."""

from airflow.sdk import DAG, task

with DAG("upstream_data", schedule=None):

    @task
    def export_orders() -> None:
        print("0 orders today, nothing exported")

    @task
    def load_orders() -> int:
        with open("/tmp/svc-diagnose/landing/orders-2026-11-15.csv") as file:
            return len(file.readlines())

    @task
    def refresh_dashboard(rows: int) -> None:
        print(rows)

    rows = load_orders()
    export_orders() >> rows
    refresh_dashboard(rows)
