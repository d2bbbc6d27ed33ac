"""Nightly sales load: extract from an API, validate, load, report."""
from __future__ import annotations

import json
from datetime import datetime, timedelta

from airflow.sdk import Asset, dag, task, task_group
from airflow.providers.standard.operators.empty import EmptyOperator

SALES = Asset("warehouse.sales")
REGIONS = ["emea", "amer", "apac"]


@dag(
    dag_id="real_sales_etl",
    schedule="15 2 * * *",
    start_date=datetime(2024, 1, 1),
    catchup=False,
    max_active_runs=1,
    default_args={"owner": "sales-data", "retries": 3, "retry_delay": timedelta(minutes=5), "retry_exponential_backoff": True},
    tags=["sales", "etl"],
)
def sales_etl():
    @task(execution_timeout=timedelta(minutes=20))
    def extract(region: str, ds: str | None = None) -> dict:
        return {"region": region, "path": f"/data/{ds}/{region}.json"}

    @task
    def validate(batch: dict) -> str:
        return batch["path"]

    @task(pool="warehouse", pool_slots=2)
    def load(path: str, table: str) -> int:
        return len(json.dumps(path))

    @task(outlets=[SALES], trigger_rule="none_failed_min_one_success")
    def publish(counts: list[int]):
        print(sum(counts))

    @task_group(tooltip="One region")
    def region_pipeline(region):
        return load(validate(extract(region)), table=f"sales_{region}")

    start = EmptyOperator(task_id="start")
    counts = []
    for region in REGIONS:
        group = region_pipeline.override(group_id=f"region_{region}")(region)
        start >> group
        counts.append(group)
    publish(counts)


sales_etl()
