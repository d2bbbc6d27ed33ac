"""As most DAGs of Airflow 2 look: operators, default_args, `>>` with lists."""
from datetime import datetime, timedelta

from airflow import DAG
from airflow.operators.bash import BashOperator
from airflow.operators.python import BranchPythonOperator, PythonOperator

DEFAULTS = {"owner": "airflow", "depends_on_past": False, "retries": 1, "retry_delay": timedelta(minutes=5)}


def pick(**context):
    return "left"


with DAG("classic", schedule="@weekly", start_date=datetime(2026, 1, 1), default_args=DEFAULTS) as dag:
    branch = BranchPythonOperator(task_id="branch", python_callable=pick)
    left = BashOperator(task_id="left", bash_command="echo {{ ds }}")
    right = PythonOperator(task_id="right", python_callable=pick, op_kwargs={"a": "{{ ds }}"}, retries=4)
    join = BashOperator(task_id="join", bash_command="x", trigger_rule="none_failed")
    branch >> [left, right] >> join
