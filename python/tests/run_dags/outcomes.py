"""Retries, exceptions that say how a task ends, early starts, and how leaves decide about the run."""
import time
from datetime import timedelta

from airflow.exceptions import AirflowException, AirflowSkipException
from airflow.sdk import DAG, TaskGroup, get_current_context, task
from airflow.providers.standard.operators.empty import EmptyOperator

from steps import fail, fail_for_good, ok, skip

AT_ONCE = {"retry_delay": timedelta(0)}

with DAG("retries", schedule=None):

    @task(retries=2, **AT_ONCE)
    def third_time_lucky():
        if get_current_context()["ti"].try_number < 3:
            raise ValueError("as planned")

    @task(retries=1, **AT_ONCE)
    def skips_on_second_try():
        if get_current_context()["ti"].try_number == 1:
            raise AirflowException("as planned")
        raise AirflowSkipException

    @task(retries=1, **AT_ONCE)
    def fails_every_time():
        raise AirflowException("as planned")

    third_time_lucky() >> EmptyOperator(task_id="after_luck")
    skips_on_second_try() >> EmptyOperator(task_id="after_skip", trigger_rule="all_skipped")
    fails_every_time() >> EmptyOperator(task_id="after_failure", trigger_rule="all_failed")
    fail_for_good("not_tried_again", retries=3, **AT_ONCE)

with DAG("task_that_exits", schedule=None):

    @task
    def leaves():
        import sys

        sys.exit(3)

    @task
    def leaves_in_peace():
        import sys

        sys.exit(0)

    leaves() >> EmptyOperator(task_id="after", trigger_rule="one_failed")
    leaves_in_peace() >> EmptyOperator(task_id="after_peace", trigger_rule="all_done")

with DAG("times_out", schedule=None):

    @task(execution_timeout=timedelta(seconds=1))
    def too_slow():
        time.sleep(30)

    too_slow() >> EmptyOperator(task_id="after", trigger_rule="one_failed")

with DAG("leaf_failed", schedule=None):
    ok("a") >> [ok("good"), fail("bad")]

with DAG("failure_in_the_middle_forgiven", schedule=None):
    ok("a") >> fail("bad") >> EmptyOperator(task_id="end", trigger_rule="all_done")

with DAG("only_skipped", schedule=None):
    skip("a") >> ok("b") >> ok("c")

with DAG("leaf_upstream_failed", schedule=None):
    fail("a") >> ok("b") >> ok("c")
    ok("apart")

with DAG("starts_early", schedule=None):

    @task
    def slow():
        time.sleep(2)

    quick, late = ok("quick"), slow()
    [quick, late] >> ok("one_success", trigger_rule="one_success")
    [quick, late] >> ok("one_done", trigger_rule="one_done")
    bad = fail("bad")
    [bad, late] >> ok("one_failed", trigger_rule="one_failed")
    [bad, late] >> ok("all_success")
    skipped = skip("skipped")
    [skipped, late] >> ok("none_skipped", trigger_rule="none_skipped")
    [skipped, late] >> ok("none_failed", trigger_rule="none_failed")

with DAG("nested_groups", schedule=None):
    with TaskGroup("outer") as outer:
        first = ok("first")
        with TaskGroup("inner") as inner:
            ok("x") >> fail("y")
            ok("z")
        with TaskGroup("empty_one"):
            EmptyOperator(task_id="e")
        first >> inner
    outer >> EmptyOperator(task_id="all_done", trigger_rule="all_done")
    outer >> EmptyOperator(task_id="all_success")
    inner >> EmptyOperator(task_id="one_failed", trigger_rule="one_failed")

with DAG("fails_fast", schedule=None, fail_fast=True):
    first, bad = ok("first"), fail("bad")
    first >> bad >> ok("after")
    # Not begun when the failure comes: both wait for a task that the failure ends.
    waiting = ok("waiting")
    bad >> waiting >> ok("never")

with DAG("fails_fast_with_retries", schedule=None, fail_fast=True):
    fail("bad", retries=1, **AT_ONCE) >> ok("after")

with DAG("xcom_lost", schedule=None):

    @task
    def makes():
        raise AirflowSkipException

    @task(trigger_rule="all_done")
    def uses(value):
        return value

    uses(makes())
