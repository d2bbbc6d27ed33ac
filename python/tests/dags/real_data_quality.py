from datetime import datetime, timedelta

from airflow.sdk import DAG, TaskGroup, chain, task
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.python import ShortCircuitOperator
from airflow.providers.standard.sensors.external_task import ExternalTaskSensor

TABLES = {"orders": ["not_null", "unique"], "customers": ["not_null"], "payments": ["range", "fresh"]}

with DAG(
    "real_data_quality",
    schedule="0 5 * * *",
    start_date=datetime(2024, 3, 1),
    catchup=False,
    default_args={"owner": "dq", "retries": 0, "sla": None},
) as dag:
    wait = ExternalTaskSensor(
        task_id="wait_for_sales",
        external_dag_id="real_sales_etl",
        external_task_id="publish",
        execution_delta=timedelta(hours=2, minutes=45),
        mode="reschedule",
        poke_interval=120,
        timeout=4 * 3600,
    )
    business_day = ShortCircuitOperator(
        task_id="business_day", python_callable=lambda logical_date: logical_date.weekday() < 5
    )

    @task
    def run_check(table: str, check: str):
        print(table, check)

    @task(trigger_rule="all_done")
    def summary():
        print("done")

    groups = []
    for table, checks in TABLES.items():
        with TaskGroup(table, tooltip=f"Checks of {table}") as group:
            first = EmptyOperator(task_id="begin")
            for check in checks:
                first >> run_check.override(task_id=check)(table, check)
        groups.append(group)
    chain(wait, business_day, groups, summary())
