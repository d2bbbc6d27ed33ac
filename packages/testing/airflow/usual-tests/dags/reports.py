"""A report with classic operators."""

from __future__ import annotations

import pendulum
from shop_operators import CentsToEurosOperator

from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.python import BranchPythonOperator, PythonOperator
from airflow.sdk import DAG


def choose(is_full: bool) -> str:
    return "full" if is_full else "short"


def collect(factor: int, **context) -> int:
    return factor * int(context["ti"].xcom_pull(task_ids="count"))


with DAG(
    dag_id="reports",
    schedule=None,
    start_date=pendulum.datetime(2026, 1, 1, tz="UTC"),
    default_args={"owner": "shop", "retries": 2},
    tags=["shop", "classic"],
) as dag:
    start = EmptyOperator(task_id="start")
    count = BashOperator(task_id="count", bash_command="echo {{ params.get('rows', 7) }}")
    multiply = PythonOperator(task_id="multiply", python_callable=collect, op_kwargs={"factor": 100})
    euros = CentsToEurosOperator(task_id="euros", cents="{{ ti.xcom_pull(task_ids='multiply') }}")
    branch = BranchPythonOperator(task_id="branch", python_callable=choose, op_args=[False])
    full = EmptyOperator(task_id="full")
    short = EmptyOperator(task_id="short")
    end = EmptyOperator(task_id="end", trigger_rule="none_failed_min_one_success")

    start >> count >> multiply >> euros >> branch >> [full, short] >> end
