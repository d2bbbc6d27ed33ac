"""Writes assets; assets_in begins after them."""
from datetime import datetime

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, Asset, AssetAlias, Metadata, task

ORDERS = Asset("s3://shop/orders.parquet", extra={"team": "shop"})

with DAG("assets_out", schedule="@hourly", start_date=datetime(2026, 1, 1), max_active_runs=1):
    BashOperator(task_id="write", bash_command="x", outlets=[ORDERS], retries=1)

    @task(outlets=[AssetAlias("latest")])
    def alias():
        yield Metadata(ORDERS, {"rows": 1}, alias=AssetAlias("latest"))

    alias()
