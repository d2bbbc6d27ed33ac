"""Imports as Airflow 2 had them, which Airflow 3.2 still accepts with warnings."""
from datetime import datetime

from airflow.decorators import dag, task, task_group
from airflow.models.param import Param
from airflow.utils.edgemodifier import Label
from airflow.utils.task_group import TaskGroup
from airflow.utils.trigger_rule import TriggerRule


@dag(schedule=None, start_date=datetime(2026, 1, 1), params={"x": Param("y", type="string")})
def decorators_of_2():
    @task.branch
    def choose():
        return "way_one"

    @task
    def way_one(): ...

    @task
    def way_two(): ...

    @task(trigger_rule=TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS)
    def meet(): ...

    chosen = choose()
    with TaskGroup(group_id="rest") as rest:
        meet()
    chosen >> Label("one") >> way_one() >> rest
    chosen >> Label("two") >> way_two() >> rest


decorators_of_2()
