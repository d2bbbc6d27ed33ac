"""Mapped task groups: each item goes its own way."""
from airflow.exceptions import AirflowSkipException
from airflow.sdk import DAG, task, task_group
from airflow.providers.standard.operators.empty import EmptyOperator

from steps import ok


@task
def items(*values):
    return list(values)


@task
def first(item):
    if item < 0:
        raise ValueError("as planned")
    if item == 0:
        raise AirflowSkipException
    return item


@task
def second(item):
    return item


@task(trigger_rule="all_done")
def at_last(item):
    return item


with DAG("group_of_items", schedule=None):

    @task_group
    def steps(item):
        second(first(item)) >> at_last(1)

    done = steps.expand(item=items(1, -1, 0, 2))
    done >> EmptyOperator(task_id="all_success")
    done >> EmptyOperator(task_id="all_done", trigger_rule="all_done")

with DAG("group_of_literal_items", schedule=None):

    @task_group
    def steps(item):
        return second(first(item))

    steps.expand(item=[1, -1]) >> EmptyOperator(task_id="one_failed", trigger_rule="one_failed")

with DAG("group_of_no_items", schedule=None):

    @task_group
    def steps(item):
        second(first(item)) >> at_last(1)

    done = steps.expand(item=items())
    done >> EmptyOperator(task_id="all_success")
    done >> EmptyOperator(task_id="none_failed", trigger_rule="none_failed")

with DAG("group_over_failure", schedule=None):

    @task
    def broken():
        raise ValueError("as planned")

    @task_group
    def steps(item):
        second(first(item)) >> at_last(1)

    steps.expand(item=broken()) >> EmptyOperator(task_id="all_done", trigger_rule="all_done")

with DAG("group_over_skip", schedule=None):

    @task
    def skipped():
        raise AirflowSkipException

    @task_group
    def steps(item):
        return second(first(item))

    steps.expand(item=skipped()) >> EmptyOperator(task_id="all_done", trigger_rule="all_done")

with DAG("group_values_reduced", schedule=None):

    @task_group
    def steps(item):
        return second(first(item))

    @task(trigger_rule="all_done")
    def add(values):
        return sum(values)

    add(steps.expand(item=items(1, -1, 3)))

with DAG("group_with_branch", schedule=None):

    @task.branch
    def choose(item):
        return f"steps.way_{item}"

    @task_group
    def steps(item):
        choose(item) >> [ok("way_1"), ok("way_2")]

    steps.expand(item=[1, 2])

with DAG("group_with_inner_group", schedule=None):

    @task_group
    def outer(item):
        @task_group
        def inner(value):
            return second(value)

        return inner(first(item))

    outer.expand(item=items(1, -1)) >> EmptyOperator(task_id="after", trigger_rule="all_done")

with DAG("group_with_setup", schedule=None):

    @task_group
    def steps(item):
        opened = ok("open").as_setup()
        opened >> first(item) >> ok("close").as_teardown(setups=opened)

    steps.expand(item=items(1, -1)) >> ok("after")

with DAG("group_kwargs", schedule=None):

    @task
    def argument_sets():
        return [{"item": 1, "factor": 2}, {"item": -1, "factor": 3}]

    @task_group
    def steps(item, factor):
        second(first(item)) >> at_last(factor)

    steps.expand_kwargs(argument_sets())
