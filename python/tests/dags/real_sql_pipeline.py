from datetime import datetime

from airflow.sdk import DAG, TaskGroup, chain
from airflow.providers.common.sql.operators.sql import SQLCheckOperator, SQLExecuteQueryOperator, SQLColumnCheckOperator
from airflow.providers.common.sql.sensors.sql import SqlSensor

with DAG(
    "real_sql_pipeline",
    schedule="@hourly",
    start_date=datetime(2024, 1, 1),
    catchup=False,
    default_args={"conn_id": "warehouse", "retries": 1},
):
    ready = SqlSensor(task_id="ready", conn_id="warehouse", sql="SELECT 1 WHERE now() > '{{ ts }}'", mode="reschedule")
    load = SQLExecuteQueryOperator(
        task_id="load", sql=["TRUNCATE t", "INSERT INTO t SELECT * FROM s WHERE d = '{{ ds }}'"], autocommit=True
    )
    with TaskGroup("checks") as checks:
        SQLCheckOperator(task_id="rows", sql="SELECT count(*) FROM t")
    chain(ready, load, checks)
