from airflow.providers.common.sql.operators.sql import (
    BranchSQLOperator,
    SQLColumnCheckOperator,
    SQLExecuteQueryOperator,
    SQLTableCheckOperator,
)
from airflow.providers.common.sql.sensors.sql import SqlSensor
from airflow.sdk import DAG, task

for conn_id in ("probe_sqlite", "probe_postgres"):
    with DAG(f"provider_sql_{conn_id}", schedule=None, default_args={"conn_id": conn_id}):
        create = SQLExecuteQueryOperator(
            task_id="create",
            sql=["DROP TABLE IF EXISTS probe", "CREATE TABLE probe (a integer)", "INSERT INTO probe VALUES (1), (2)"],
            autocommit=True,
        )
        read = SQLExecuteQueryOperator(
            task_id="read", sql="SELECT sum(a) FROM probe WHERE a <= {{ params.most }}", params={"most": 2}
        )
        column = SQLColumnCheckOperator(
            task_id="column", table="probe", column_mapping={"a": {"null_check": {"equal_to": 0}, "max": {"equal_to": 2}}}
        )
        table = SQLTableCheckOperator(
            task_id="table", table="probe", checks={"rows": {"check_statement": "COUNT(*) = 2"}}
        )
        ready = SqlSensor(task_id="ready", sql="SELECT count(*) FROM probe", poke_interval=1, timeout=30)
        choose = BranchSQLOperator(
            task_id="choose", sql="SELECT 1", follow_task_ids_if_true="total", follow_task_ids_if_false="other"
        )

        @task
        def total(rows):
            if rows[0][0] != 3:
                raise ValueError(rows)
            return rows[0][0]

        @task
        def other(): ...

        create >> ready >> read >> [column, table] >> choose >> [total(read.output), other()]
