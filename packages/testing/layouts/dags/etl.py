"""An ELT pipeline of tables, with checks and a report at the end."""
from __future__ import annotations

import os
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from airflow.providers.common.sql.operators.sql import SQLCheckOperator, SQLExecuteQueryOperator
from airflow.sdk import DAG, TaskGroup, task

if TYPE_CHECKING:
    from airflow.sdk.definitions.context import Context

TABLES = ["orders", "lines", "people"]
SCHEMA = os.environ.get("SCHEMA_OF_LAYOUTS", "raw")

with DAG(
    "etl",
    schedule="0 4 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    default_args={"conn_id": "warehouse", "retries": 2, "retry_delay": timedelta(minutes=1)},
    template_searchpath=[os.path.join(os.path.dirname(__file__), "sql")],
) as dag:

    @task(multiple_outputs=True)
    def window(data_interval_start=None, **context: Context) -> dict[str, str]:
        return {"since": str(data_interval_start)}

    found = window()
    ends = []
    for table in TABLES:
        with TaskGroup(table):
            load = SQLExecuteQueryOperator(
                task_id="load", sql=f"insert into {SCHEMA}.{table} select '{{{{ ds }}}}'", parameters={"since": found["since"]}
            )
            check = SQLCheckOperator(task_id="check", sql=f"select count(*) from {table}", retries=0)
            load >> check
            ends.append(check)

    @task(trigger_rule="all_done", retries=1)
    def report(run_id=None): ...

    ends >> report()
