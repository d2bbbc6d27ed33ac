"""Runs that a schedule makes: all of them are in the past when the file is read."""
from datetime import datetime

from airflow.sdk import DAG, get_current_context, task
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.latest_only import LatestOnlyOperator

from steps import ok

THREE_DAYS = {
    "schedule": "@daily",
    "start_date": datetime(2024, 1, 1),
    "end_date": datetime(2024, 1, 3),
    "catchup": True,
    "tags": ["scheduled"],
}


def day():
    return get_current_context()["logical_date"].day


def latest_only():
    latest = LatestOnlyOperator(task_id="latest")
    latest >> ok("a") >> ok("b")
    latest >> EmptyOperator(task_id="c", trigger_rule="all_done")


with DAG("latest_only_late", **THREE_DAYS):
    latest_only()

with DAG("latest_only_in_time", schedule="@yearly", start_date=datetime(2020, 1, 1), catchup=False, tags=["scheduled"]):
    latest_only()

with DAG("past_fails_on_second_day", **THREE_DAYS):

    @task(depends_on_past=True)
    def fails_once():
        if day() == 2:
            raise ValueError("as planned")

    fails_once() >> ok("after")
    ok("apart")

with DAG("past_skips_on_second_day", **THREE_DAYS):

    @task.short_circuit(depends_on_past=True)
    def gate():
        return day() != 2

    gate() >> ok("after", depends_on_past=True)

with DAG("past_downstream_fails_on_second_day", **THREE_DAYS):

    @task
    def fails_once():
        if day() == 2:
            raise ValueError("as planned")

    ok("first", wait_for_downstream=True) >> fails_once()
