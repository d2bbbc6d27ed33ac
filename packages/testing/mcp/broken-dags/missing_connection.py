"""A connection that exists on another installation only."""

from airflow.sdk import DAG, BaseHook, task

with DAG("missing_connection", schedule=None):

    @task
    def extract() -> str:
        connection = BaseHook.get_connection("warehouse_prod")
        return connection.host or ""

    @task
    def load(host: str) -> None:
        print(host)

    load(extract())
