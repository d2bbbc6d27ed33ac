"""Runs when sales were loaded."""
from datetime import datetime

from airflow.decorators import dag, task
from airflow.operators.bash import BashOperator
from airflow.operators.python import get_current_context
from airflow.utils.task_group import TaskGroup

from common.notify import SALES


@dag(schedule=[SALES], start_date=datetime(2023, 1, 1), catchup=False, tags=["reports"])
def reports():
    @task
    def regions():
        return ["north", "south"]

    @task
    def report(region):
        context = get_current_context()
        print(f"{region}: {context['run_id']}")

    with TaskGroup("publish"):
        BashOperator(task_id="publish", bash_command="echo published by {{ run_id }}") << report.expand(region=regions())


reports()
