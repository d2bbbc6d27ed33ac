"""Mapped tasks: lengths, failures among the instances, and rules after them."""
from airflow.exceptions import AirflowSkipException
from airflow.sdk import DAG, get_current_context, task
from airflow.providers.standard.operators.empty import EmptyOperator

from steps import fail, ok, skip

AFTER = ("all_success", "all_done", "one_success", "one_failed", "all_failed", "none_failed", "all_skipped")


@task
def numbers(*values):
    return list(values)


@task(max_active_tis_per_dagrun=1)
def end_as(number):
    """0 is skipped, below 0 fails."""
    if number == 0:
        raise AirflowSkipException
    if number < 0:
        raise ValueError("as planned")
    return number


@task
def total(values):
    return sum(value for value in values if value is not None)


def joins(before):
    for rule in AFTER:
        before >> EmptyOperator(task_id=f"join_{rule}", trigger_rule=rule)


with DAG("mapped_ok", schedule=None):
    mapped = end_as.expand(number=numbers(1, 2, 3))
    total(mapped)
    joins(mapped)

with DAG("mapped_one_fails", schedule=None):
    mapped = end_as.expand(number=numbers(1, -1, 2))
    total(mapped)
    joins(mapped)

with DAG("mapped_one_skipped", schedule=None):
    mapped = end_as.expand(number=numbers(1, 0, 2))
    total(mapped)
    joins(mapped)

with DAG("mapped_all_skipped", schedule=None):
    mapped = end_as.expand(number=numbers(0, 0))
    total(mapped)
    joins(mapped)

with DAG("mapped_all_fail", schedule=None):
    joins(end_as.expand(number=numbers(-1, -2)))

with DAG("mapped_none_at_all", schedule=None):
    mapped = end_as.expand(number=numbers())
    total(mapped)
    joins(mapped)

with DAG("mapped_literal_none", schedule=None):
    joins(end_as.expand(number=[]))

with DAG("mapped_literal", schedule=None):
    before = fail("before")
    mapped = end_as.expand(number=[1, 2])
    before >> mapped
    joins(mapped)

with DAG("mapped_literal_after_skip", schedule=None):
    mapped = end_as.expand(number=[1, 2])
    skip("before") >> mapped >> ok("after")

with DAG("mapped_over_failure", schedule=None):

    @task
    def broken():
        raise ValueError("as planned")

    mapped = end_as.expand(number=broken())
    joins(mapped)

with DAG("mapped_over_skip", schedule=None):

    @task
    def skipped():
        raise AirflowSkipException

    mapped = end_as.expand(number=skipped())
    joins(mapped)

with DAG("mapped_over_no_list", schedule=None):

    @task
    def text():
        return 42

    end_as.expand(number=text()) >> EmptyOperator(task_id="after", trigger_rule="all_done")

with DAG("mapped_over_nothing_pushed", schedule=None):

    @task
    def nothing():
        pass

    end_as.expand(number=nothing()) >> EmptyOperator(task_id="after", trigger_rule="all_done")

with DAG("mapped_over_mapped", schedule=None):
    first = end_as.expand(number=numbers(1, -1, 2))

    @task(trigger_rule="all_done")
    def again(number):
        return number

    second = again.expand(number=first)
    second >> EmptyOperator(task_id="after")

with DAG("mapped_product", schedule=None):

    @task
    def pair(a, b):
        if (a, b) == (2, "x"):
            raise ValueError("as planned")

    joins(pair.expand(a=numbers(1, 2), b=["x", "y"]))

with DAG("mapped_kwargs", schedule=None):

    @task
    def argument_sets():
        return [{"a": 1, "b": 2}, {"a": 0, "b": 1}]

    @task
    def divide(a, b):
        return b // a

    joins(divide.expand_kwargs(argument_sets()))

with DAG("mapped_by_function", schedule=None):

    def doubled(value):
        if value == 3:
            raise AirflowSkipException("not this one")
        return value * 2

    mapped = end_as.expand(number=numbers(1, 3, 2).map(doubled))
    joins(mapped)

with DAG("mapped_by_broken_function", schedule=None):

    def inverted(value):
        return 12 // value

    mapped = end_as.expand(number=numbers(1, 0, 2).map(inverted))
    joins(mapped)

with DAG("mapped_zip_and_concat", schedule=None):
    left, right = numbers.override(task_id="left")(1, 2, 3), numbers.override(task_id="right")(4, 5)

    @task
    def both(values):
        a, b = values
        return a + b

    @task
    def each(value):
        return value

    both.expand(values=left.zip(right))
    both.override(task_id="filled").expand(values=left.zip(right, fillvalue=0))
    each.expand(value=left.concat(right))

with DAG("mapped_retries", schedule=None):

    @task(retries=1, retry_delay=0)
    def second_time_lucky(number):
        if get_current_context()["ti"].try_number == 1 and number > 1:
            raise ValueError("as planned")

    second_time_lucky.expand(number=[1, 2]) >> EmptyOperator(task_id="after")

with DAG("mapped_branch", schedule=None):

    @task.branch
    def choose(number):
        return "a" if number == 1 else "b"

    ways = [ok("a"), ok("b"), ok("c")]
    choose.expand(number=[1, 2]) >> ways

with DAG("mapped_branch_all_the_same", schedule=None):

    @task.branch
    def choose(number):
        return "a"

    ways = [ok("a"), ok("b")]
    choose.expand(number=[1, 2]) >> ways

with DAG("mapped_short_circuit", schedule=None):

    @task.short_circuit
    def gate(number):
        return number > 1

    gate.expand(number=[1, 2]) >> ok("a") >> ok("b")

with DAG("mapped_with_teardown", schedule=None):
    opened = ok("open").as_setup()
    mapped = end_as.expand(number=numbers(1, -1))
    opened >> mapped >> ok("close").as_teardown(setups=opened)
    mapped >> ok("after")

with DAG("mapped_fails_fast", schedule=None, fail_fast=True):
    end_as.expand(number=numbers(-1)) >> ok("after") >> ok("end")
