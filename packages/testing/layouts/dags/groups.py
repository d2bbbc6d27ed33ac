"""Groups in groups, and tasks that are made in loops."""
from datetime import datetime

from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, Label, TaskGroup, chain, task_group

with DAG("groups", schedule="0 6 * * 1", start_date=datetime(2026, 1, 1)):
    start = EmptyOperator(task_id="start")
    with TaskGroup("outer", tooltip="all sources", default_args={"retries": 3}) as outer:
        first = EmptyOperator(task_id="first")
        with TaskGroup("inner"):
            for name in ("x", "y"):
                first >> BashOperator(task_id=name, bash_command=f"echo {name}")

    @task_group(prefix_group_id=False)
    def publish():
        one = EmptyOperator(task_id="publish_one")
        two = EmptyOperator(task_id="publish_two", trigger_rule="all_done")
        one >> Label("after") >> two

    end = EmptyOperator(task_id="end", trigger_rule="none_failed_min_one_success")
    chain(start, outer, publish(), end)
