from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, Asset, task

with DAG("provider_lineage", schedule=None, tags=["lineage"], description="reports what it reads and writes"):
    sql = SQLExecuteQueryOperator(
        task_id="sql",
        conn_id="probe_postgres",
        sql="insert into totals select sum(amount) from orders",
    )
    bash = BashOperator(
        task_id="bash",
        bash_command="echo as {{ conn.probe_postgres.login }} with {{ conn.probe_postgres.password }}",
        inlets=[Asset("file://127.0.0.1/data/in.csv")],
        outlets=[Asset("file://127.0.0.1/data/out.csv")],
    )

    @task(owner="ana")
    def add(x):
        return x + 1

    @task(retries=0)
    def fails():
        raise ValueError("on purpose")

    @task
    def by_hook():
        from airflow.providers.postgres.hooks.postgres import PostgresHook

        return PostgresHook(postgres_conn_id="probe_postgres").get_first("select count(*) from totals")[0]

    sql >> bash >> add.expand(x=[1, 2]) >> by_hook()
    fails()

with DAG("provider_lineage_late", schedule=None):

    @task
    def one():
        return 1

    one()
