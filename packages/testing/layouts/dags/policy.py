"""What default_args, groups and tasks say of retries, in layers."""
from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, TaskGroup


def told(context): ...


with DAG(
    "policy",
    schedule="@monthly",
    start_date=datetime(2026, 1, 1),
    default_args={
        "retries": 3,
        "retry_delay": timedelta(seconds=30),
        "retry_exponential_backoff": True,
        "max_retry_delay": timedelta(hours=1),
        "on_failure_callback": told,
        "pool": "default_pool",
        "weight_rule": "upstream",
        "email_on_failure": False,
    },
    on_success_callback=[told],
    fail_fast=False,
):
    first = BashOperator(task_id="first", bash_command="x", priority_weight=5, weight_rule="absolute")
    with TaskGroup("inside", default_args={"retries": 0, "trigger_rule": "all_done"}):
        second = BashOperator(task_id="second", bash_command="x", execution_timeout=timedelta(minutes=1))
        third = BashOperator(task_id="third", bash_command="x", retries=7, do_xcom_push=False)
    first >> [second, third]
