"""`run_dag` and `run_task`, with pytest and the wheel."""

from __future__ import annotations

import asyncio
import datetime
import os

import pendulum
import pytest

from airflow.models import DagBag
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.providers.standard.sensors.date_time import DateTimeSensor, DateTimeSensorAsync
from airflow.providers.standard.sensors.python import PythonSensor
from airflow.sdk import (
    Asset,
    AsyncCallback,
    DeadlineAlert,
    DeadlineReference,
    Param,
    SyncCallback,
    dag,
    get_current_context,
    task,
)
from svc.testing import NO_ANSWER, Answer, scheduled_runs

FOLDER = os.path.dirname(os.path.abspath(__file__))
GIVEN = {"connections": {"warehouse": "postgres://db.example/x"}, "variables": {"limit": 7}}
called: list = []


@pytest.fixture(scope="session")
def shop():
    bag = DagBag(os.path.join(FOLDER, "dags"))
    assert bag.import_errors == {}
    return bag.get_dag("shop")


def test_a_run_gives_states_values_logs_and_tries(shop, run_dag):
    run = run_dag(shop, at="2026-03-02T02:00", answers={"approve": "Approve"}, **GIVEN)
    assert run.succeeded
    assert run.task("extract").xcom == [1, 2, 3]
    assert "extracting 2026-03-02" in run.task("extract").log
    loads = run.task("load")
    assert loads.xcom == [10, 20, 30]
    assert loads.tries == [1, 2, 1]
    assert "no room for 2" in loads[1].log
    assert "--- try 2 ---" in loads[1].log
    value = run.task("report").xcom
    assert (value["total"], value["host"], value["limit"]) == (60, "db.example", 7)
    # The retry came an hour later on the clock of the test, in Berlin.
    assert value["now"].startswith("2026-03-02T03:00")
    assert [(event.asset.name, event.extra) for event in run.asset_events] == [("report", {"total": 60})]
    assert run.task("publish").xcom == "published"
    assert datetime.datetime.now().year != 2026 or run.end_date < pendulum.now()


@pytest.mark.parametrize(
    ("answer", "state"),
    [("Approve", "success"), (Answer("Reject", by="eva"), "skipped"), (NO_ANSWER, "upstream_failed")],
)
def test_answers_of_people_decide_what_follows(shop, run_dag, answer, state):
    run = run_dag(shop, xcoms={"report": 1}, answers={"approve": answer})
    assert run.task("publish").state == state
    assert run.task("report").log == ""


def test_a_missing_or_wrong_answer_says_what_to_pass(shop, run_dag):
    missing = run_dag(shop, xcoms={"report": 1})
    assert "answers={'approve': 'Approve'}" in missing.task("approve").error_text
    wrong = run_dag(shop, xcoms={"report": 1}, answers={"approve": "Maybe"})
    assert "none of the options" in wrong.task("approve").error_text


def test_one_task_runs_with_given_values_of_those_before_it(shop, run_task):
    found = run_task(shop.get_task("report"), xcoms={"load": [1, 2]}, **GIVEN)
    assert found.succeeded
    assert found.xcom["total"] == 3
    one = run_task(shop.get_task("load"), map_index=1, xcoms={"extract": [5, 6]})
    assert (one.name, one.xcom, one.tries) == ("load[1]", 60, 1)
    everything = run_task(shop.get_task("load"), xcoms={"extract": [5, 6]})
    assert everything.xcom == [50, 60]


def test_a_task_of_no_dag_and_a_decorated_function_run(run_task):
    assert run_task(BashOperator(task_id="echo", bash_command="echo {{ ds }}"), at="2026-05-06").xcom == "2026-05-06"

    @task
    def double(n):
        return n * 2

    assert run_task(double(4)).xcom == 8


def test_a_task_that_waits_for_failures_runs_alone(run_task):
    @dag(schedule=None)
    def cleaning():
        @task
        def work(): ...

        @task(trigger_rule="one_failed")
        def clean():
            return "cleaned"

        work() >> clean()

    assert run_task(cleaning().get_task("clean")).xcom == "cleaned"


def test_names_of_unknown_tasks_are_refused_with_those_there_are(shop, run_dag):
    with pytest.raises(ValueError, match=r"xcoms names the task 'lod', which shop does not have.*load"):
        run_dag(shop, xcoms={"lod": 1})
    with pytest.raises(KeyError, match="no task 'lod'"):
        run_dag(shop, xcoms={"extract": [], "report": 1}, answers={"approve": "Approve"}).task("lod")
    with pytest.raises(TypeError, match="Call the function that makes it"):
        run_dag(lambda: None)


def test_conf_is_checked_and_reaches_the_tasks(run_dag):
    @dag(schedule=None, params={"size": Param(1, type="integer")})
    def sized():
        @task
        def size(params=None):
            return params["size"]

        size()

    assert run_dag(sized(), conf={"size": 5}).task("size").xcom == 5
    with pytest.raises(ValueError, match="size"):
        run_dag(sized(), conf={"size": "big"})


def test_events_of_assets_start_a_run(run_dag):
    orders = Asset("orders", uri="s3://shop/orders")

    @dag(schedule=[orders])
    def by_orders():
        @task
        def count(triggering_asset_events=None):
            return [event.extra["rows"] for event in triggering_asset_events[orders]]

        count()

    run = run_dag(by_orders(), asset_events={orders: [{"rows": 3}, {"rows": 4}]})
    assert run.run_type == "asset_triggered"
    assert run.task("count").xcom == [3, 4]


def test_waits_of_sensors_retries_and_triggers_move_the_clock(run_dag):
    looks = []

    @dag(schedule=None)
    def waiting():
        def look():
            looks.append(datetime.datetime.now(datetime.timezone.utc))
            return len(looks) % 3 == 0

        poked = PythonSensor(task_id="poked", python_callable=look, poke_interval=3600)
        rescheduled = PythonSensor(task_id="rescheduled", python_callable=look, poke_interval=3600, mode="reschedule")
        monday = DateTimeSensorAsync(task_id="monday", target_time="2026-03-09T06:00:00+00:00")
        late = DateTimeSensor(
            task_id="late", target_time="2026-03-10T06:00:00+00:00", mode="reschedule", poke_interval=600
        )
        poked >> rescheduled >> monday >> late

    run = run_dag(waiting(), at="2026-03-06T12:00")
    assert run.succeeded, run.task("poked").log
    assert (looks[1] - looks[0]) >= datetime.timedelta(hours=1)
    assert (looks[4] - looks[3]) >= datetime.timedelta(hours=1)
    assert run.task("monday").end_date >= pendulum.datetime(2026, 3, 9, 6)
    assert run.end_date >= pendulum.datetime(2026, 3, 10, 6)


def test_a_sensor_times_out_on_the_clock_of_the_test(run_dag):
    @dag(schedule=None)
    def waiting():
        PythonSensor(task_id="never", python_callable=lambda: False, poke_interval=60, timeout=3600)

    never = run_dag(waiting(), at="2026-03-06").task("never")
    assert never.failed
    assert "AirflowSensorTimeout" in repr(never)


def test_the_clock_moves_to_a_day_and_goes_on_after_a_run(clock, run_dag):
    clock.move_to("2026-03-06T12:00")
    monday = clock.now().next(pendulum.MONDAY)
    clock.move_to(monday)

    @dag(schedule=None)
    def today():
        @task(retries=1, retry_delay=datetime.timedelta(days=1))
        def day():
            if get_current_context()["ti"].try_number == 1:
                raise ValueError("later")
            return datetime.date.today().isoformat()

        day()

    assert run_dag(today()).task("day").xcom == "2026-03-10"
    clock.move(hours=2)
    assert clock.now() >= pendulum.datetime(2026, 3, 10, 2)


def test_a_night_of_daylight_saving_has_the_runs_of_the_schedule(shop, run_dag):
    runs = scheduled_runs(shop, after="2026-03-28T00:00", until="2026-03-31T00:00")
    # At 2 o'clock of the 29th there is no such time in Berlin.
    assert [run.run_after.isoformat() for run in runs] == [
        "2026-03-28T02:00:00+01:00",
        "2026-03-29T03:00:00+02:00",
        "2026-03-30T02:00:00+02:00",
    ]
    run = run_dag(shop, at=runs[1], xcoms={"report": 1}, answers={"approve": "Approve"})
    assert run.run_type == "scheduled"
    assert run.logical_date == runs[1].logical_date
    assert "extracting 2026-03-29" in run.task("extract").log


def test_intervals_and_deltas_count_as_on_a_server():
    @dag(schedule="@monthly", start_date=datetime.datetime(2026, 1, 1))
    def monthly(): ...

    @dag(schedule=datetime.timedelta(hours=36), start_date=datetime.datetime(2026, 1, 1))
    def delta(): ...

    months = scheduled_runs(monthly(), after="2026-01-15", count=2)
    assert [run.run_after.isoformat()[:10] for run in months] == ["2026-02-01", "2026-03-01"]
    hours = scheduled_runs(delta(), after="2026-01-03", count=2)
    assert [run.run_after.isoformat()[:16] for run in hours] == ["2026-01-04T00:00"[:16], "2026-01-05T12:00"]


def test_a_missed_deadline_calls_its_callback(run_dag):
    called.clear()

    @dag(
        schedule=None,
        deadline=[
            DeadlineAlert(
                DeadlineReference.DAGRUN_QUEUED_AT, datetime.timedelta(hours=1), SyncCallback(told, {"n": 1})
            ),
            DeadlineAlert(DeadlineReference.DAGRUN_QUEUED_AT, datetime.timedelta(hours=2), AsyncCallback(told_soon)),
            DeadlineAlert(
                DeadlineReference.DAGRUN_QUEUED_AT, datetime.timedelta(hours=9), SyncCallback(told, {"n": 3})
            ),
        ],
    )
    def slow():
        @task
        def work(): ...

        work()

    run = run_dag(slow(), at="2026-03-06", takes={"work": datetime.timedelta(hours=3)})
    assert [(one.position, one.at.hour) for one in run.missed_deadlines] == [(0, 1), (1, 2)]
    assert called == [1, "soon"]
    assert run_dag(slow(), at="2026-03-06").missed_deadlines == []


def told(n):
    called.append(n)


async def told_soon():
    await asyncio.sleep(0)
    called.append("soon")


def test_a_run_that_takes_too_long_ends_by_its_timeout(run_dag):
    @dag(schedule=None, dagrun_timeout=datetime.timedelta(hours=1))
    def limited():
        @task(retries=5, retry_delay=datetime.timedelta(minutes=25))
        def fails():
            raise ValueError("again")

        fails()

    run = run_dag(limited(), at="2026-03-06")
    assert run.failed
    assert run.task("fails").tries == 3
    assert run.end_date.hour == 1


def test_rendered_fields_and_errors_are_readable(run_task):
    def broken():
        raise RuntimeError("no such table")

    found = run_task(PythonOperator(task_id="broken", python_callable=broken))
    assert found.failed
    assert str(found.line).startswith(os.path.relpath(__file__) + ":")
    assert found.line.text == 'raise RuntimeError("no such table")'
    assert "RuntimeError: no such table" in repr(found)
    echo = run_task(BashOperator(task_id="echo", bash_command="echo {{ ds }}"), at="2026-05-06")
    assert echo.rendered["bash_command"] == "echo 2026-05-06"
