"""Tasks that begin and end at dates of their own. Tags say which runs there are: manual ones by their logical date, backfills from one to another."""

import pendulum
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG
from steps import ok


def day(number):
    return pendulum.datetime(2026, 1, number, tz="UTC")


def tasks():
    plain = EmptyOperator(task_id="plain")
    EmptyOperator(task_id="early", start_date=day(1))
    late = EmptyOperator(task_id="late", start_date=day(12))
    ended = EmptyOperator(task_id="ended", start_date=day(1), end_date=day(11))
    late >> EmptyOperator(task_id="after_late")
    late >> EmptyOperator(task_id="after_late_done", trigger_rule="all_done")
    [late, plain] >> EmptyOperator(task_id="after_late_one", trigger_rule="one_success")
    ended >> EmptyOperator(task_id="after_ended") >> EmptyOperator(task_id="after_that")


DAYS = [f"on 2026-01-{number:02}" for number in (5, 10, 12, 25)]

with DAG("dates_by_hand", schedule=None, start_date=day(10), end_date=day(20), tags=[*DAYS, "on none"]):
    tasks()
with DAG("dates_alone", schedule=None, start_date=day(10), tags=DAYS):
    EmptyOperator(task_id="late", start_date=day(12))
    EmptyOperator(task_id="ended", end_date=day(11))
with DAG("dates_of_tasks", schedule=None, tags=DAYS):
    EmptyOperator(task_id="plain") >> ok("late", start_date=day(12))
with DAG("dates_by_default", schedule=None, default_args={"start_date": day(10)}, tags=DAYS):
    EmptyOperator(task_id="plain") >> EmptyOperator(task_id="late", start_date=day(12))
with DAG(
    "dates_by_schedule", schedule="@daily", start_date=day(10), end_date=day(13), catchup=True, tags=["scheduled"]
):
    EmptyOperator(task_id="plain") >> EmptyOperator(task_id="late", start_date=day(12))
    EmptyOperator(task_id="ended", end_date=day(11))
with DAG(
    "dates_by_backfill",
    schedule="@daily",
    start_date=day(10),
    end_date=day(12),
    catchup=False,
    tags=["backfill 2026-01-08 2026-01-13"],
):
    tasks()
