"""default_args of DAG, group and nested group, and what a task says itself."""
from datetime import datetime, timedelta

from airflow.sdk import DAG, TaskGroup, task
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG(
    "default_args_layers",
    schedule=None,
    start_date=datetime(2024, 1, 1),
    default_args={
        "owner": "dag",
        "retries": 1,
        "pool": "dag_pool",
        "env": {"A": "1"},
        "execution_timeout": timedelta(minutes=10),
        "email": ["x@example.com"],
        "email_on_failure": False,
    },
):
    EmptyOperator(task_id="top")
    BashOperator(task_id="bash_env", bash_command="env")
    with TaskGroup("outer", default_args={"owner": "outer", "queue": "outer_q"}):
        EmptyOperator(task_id="one")
        with TaskGroup("inner", default_args={"owner": "inner", "retries": 7}):
            EmptyOperator(task_id="two")
            EmptyOperator(task_id="three", retries=0, owner="self")

            @task
            def four():
                pass

            four()
    EmptyOperator(task_id="own", default_args={"queue": "own_q", "owner": "own"})
