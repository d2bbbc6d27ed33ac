"""`dag.test()`: DAGs run in this process with the planner of the engine, and end as on a server."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import importlib
import io
import json
import os
import shutil
import sys
import tempfile
import threading
import unittest

import airflow  # noqa: F401  installs the import paths

# isort: split
from airflow.models import DagBag
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.providers.standard.sensors.python import PythonSensor
from airflow.providers.standard.sensors.time_delta import TimeDeltaSensor
from airflow.sdk import (
    Asset,
    Connection,
    Param,
    Variable,
    dag,
    get_current_context,
    setup,
    task,
    task_group,
    teardown,
)
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException
from svc import step
from svc_runtime.dag_test.ignored import dag_files
from svc_runtime.record.operator import BaseOperator
from svc_runtime.run.triggers import BaseTrigger, TriggerEvent

NO_DELAY = datetime.timedelta(0)
LONG = datetime.timedelta(hours=1)


def states(run) -> dict:
    return {
        ti.task_id if ti.map_index < 0 else f"{ti.task_id}[{ti.map_index}]": None if ti.state is None else str(ti.state)
        for ti in run.get_task_instances()
    }


class Soon(BaseTrigger):
    """Fires at once, or never."""

    def __init__(self, answer: str, never: bool = False) -> None:
        super().__init__()
        self.answer = answer
        self.never = never

    def serialize(self):
        return f"{__name__}.Soon", {"answer": self.answer, "never": self.never}

    async def run(self):
        if self.never:
            await asyncio.sleep(3600)
        if self.answer == "broken":
            raise ValueError("a broken trigger")
        yield TriggerEvent(f"{self.answer} {Variable.get('who', default='nobody')}")


class Deferring(BaseOperator):
    def __init__(self, answer: str, *, never: bool = False, timeout=None, **kwargs) -> None:
        super().__init__(**kwargs)
        self.answer = answer
        self.never = never
        self.limit = timeout

    def execute(self, context):
        self.defer(trigger=Soon(self.answer, self.never), method_name="resumed", kwargs={"more": 1}, timeout=self.limit)

    def resumed(self, context, event=None, more=0):
        return [event, more, context["ti"].try_number]


class Templated(BaseOperator):
    template_fields = ("text",)

    def __init__(self, text: str, **kwargs) -> None:
        super().__init__(**kwargs)
        self.text = text

    def execute(self, context):
        return self.text


class Quiet(unittest.TestCase):
    def setUp(self) -> None:
        self.output = io.StringIO()
        redirect = contextlib.redirect_stdout(self.output)
        redirect.__enter__()
        self.addCleanup(redirect.__exit__, None, None, None)


class WhatRuns(Quiet):
    def test_a_later_try_finds_what_the_task_has_kept_and_steps_are_computed_once(self) -> None:
        computed = []

        @step
        def expensive(number: int):
            computed.append(number)
            return (number,)

        @dag(schedule=None)
        def kept():
            @task(retries=1, retry_delay=NO_DELAY, outlets=[Asset("kept")])
            def again(task_state_store=None, asset_state_store=None, ti=None):
                found = expensive(5)
                for store in (task_state_store, asset_state_store):
                    store.set("tries", store.get("tries", 0) + 1)
                if ti.try_number == 1:
                    raise ValueError("again")
                return [found, task_state_store.get("tries"), asset_state_store.get("tries")]

            again()

        run = kept().test()
        self.assertEqual(states(run), {"again": "success"})
        [instance] = run.get_task_instances()
        self.assertEqual([instance.xcom_pull("again"), computed], [[(5,), 2, 2], [5]])

    def test_a_value_reaches_the_next_task_and_the_bodies_run_in_this_process_and_thread(self) -> None:
        seen = []

        @dag(schedule=None)
        def values():
            @task
            def make():
                seen.append((os.getpid(), threading.current_thread()))
                return {"a": [1, 2]}

            @task
            def take(value, ti=None):
                print("in the body")
                return [value, ti.xcom_pull(task_ids="make")["a"]]

            take(make())

        run = values().test()
        self.assertEqual(run.state, "success")
        self.assertEqual(seen, [(os.getpid(), threading.current_thread())])
        ti = run.get_task_instance("take")
        self.assertEqual(ti.xcom_pull(task_ids="take"), [{"a": [1, 2]}, [1, 2]])
        self.assertEqual((ti.try_number, ti.operator, run.run_type), (1, "_PythonDecoratedOperator", "manual"))
        self.assertIn("in the body", self.output.getvalue())
        self.assertIn("starting task_id=take", self.output.getvalue())
        with self.assertRaises(RuntimeError):
            get_current_context()

    def test_mapped_tasks_and_mapped_groups_get_an_instance_per_item(self) -> None:
        @dag(schedule=None)
        def mapped():
            @task
            def items():
                return [1, 2, 3]

            @task
            def double(x):
                return x * 2

            @task
            def total(values):
                return sum(values)

            @task
            def none():
                return []

            @task_group
            def one(x):
                return double.override(task_id="again")(double.override(task_id="inner")(x))

            doubled = double.expand(x=items())
            total(doubled)
            total.override(task_id="of_group")(one.expand(x=doubled))
            double.override(task_id="empty").expand(x=none())

        run = mapped().test()
        self.assertEqual(run.state, "success")
        found = states(run)
        self.assertEqual([found[f"one.again[{index}]"] for index in range(3)], ["success"] * 3)
        self.assertEqual(found["empty"], "skipped")
        self.assertEqual(run.get_task_instance("total").xcom_pull(), 12)
        self.assertEqual(run.get_task_instance("of_group").xcom_pull(), 48)
        self.assertEqual(run.get_task_instance("double", map_index=2).xcom_pull(), 6)

    def test_trigger_rules_branches_and_skips_decide_as_in_the_engine(self) -> None:
        @dag(schedule=None)
        def decisions():
            @task.branch
            def choose():
                return "left"

            @task.short_circuit
            def stop():
                return False

            @task
            def skip():
                raise AirflowSkipException("not today")

            @task
            def fail():
                raise RuntimeError("broken")

            left, right = EmptyOperator(task_id="left"), EmptyOperator(task_id="right")
            choose() >> [left, right] >> EmptyOperator(task_id="join", trigger_rule="none_failed_min_one_success")
            stop() >> EmptyOperator(task_id="cut")
            skip() >> EmptyOperator(task_id="after_skip")
            failed = fail()
            failed >> EmptyOperator(task_id="blocked")
            failed >> EmptyOperator(task_id="cleanup", trigger_rule="one_failed")

            @task(trigger_rule="all_done")
            def summary(ti=None):
                return ti.get_task_states(dag_id=ti.dag_id, task_ids=["fail"], run_ids=[ti.run_id])[ti.run_id]

            failed >> summary()

        run = decisions().test()
        self.assertEqual(run.state, "failed")
        self.assertEqual(
            states(run),
            {
                "choose": "success",
                "left": "success",
                "right": "skipped",
                "join": "success",
                "stop": "success",
                "cut": "skipped",
                "skip": "skipped",
                "after_skip": "skipped",
                "fail": "failed",
                "blocked": "upstream_failed",
                "cleanup": "success",
                "summary": "success",
            },
        )
        self.assertEqual(run.get_task_instance("summary").xcom_pull(), {"fail": "failed"})
        self.assertIn("RuntimeError: broken", run.get_task_instance("fail").failure)
        self.assertIn('raise RuntimeError("broken")', self.output.getvalue())

    def test_retries_of_a_group_try_again_together_what_has_failed_in_it(self) -> None:
        tried: list = []
        told: list[str] = []

        @dag(schedule=None)
        def retried():
            def fails_once(name, ti):
                tried.append((name, ti.try_number))
                if ti.try_number == 1:
                    raise RuntimeError("not yet")

            @task(
                on_retry_callback=lambda _: told.append("retry"), on_failure_callback=lambda _: told.append("failure")
            )
            def one(ti=None):
                fails_once("one", ti)

            @task
            def two(ti=None):
                fails_once("two", ti)

            @task(trigger_rule="one_failed")
            def alarm():
                tried.append("alarm")

            @task_group(retries=1)
            def group():
                one()
                two()

            group() >> alarm()

        self.assertEqual(retried().test().state, "success")
        self.assertEqual(sorted(tried[:2]), [("one", 1), ("two", 1)])
        self.assertEqual(sorted(tried[2:]), [("one", 2), ("two", 2)])
        self.assertEqual(told, ["retry"])
        self.assertIn("Retry 1 of 1 of task group group follows", self.output.getvalue())

    def test_retries_do_not_wait_and_a_new_try_sees_no_value_of_the_one_before(self) -> None:
        tries = []

        @dag(schedule=None)
        def retried():
            @task(retries=2, retry_delay=LONG)
            def flaky(ti=None):
                tries.append((ti.try_number, ti.xcom_pull(task_ids="flaky", key="left")))
                ti.xcom_push(key="left", value=ti.try_number)
                if ti.try_number < 3:
                    raise ValueError("again")

            @task(retries=5, retry_delay=LONG)
            def final():
                raise AirflowFailException("no retry")

            flaky()
            final()

        run = retried().test()
        self.assertEqual(tries, [(1, None), (2, None), (3, None)])
        self.assertEqual(states(run), {"flaky": "success", "final": "failed"})
        self.assertEqual(run.get_task_instance("final").try_number, 1)

    def test_setups_and_teardowns_surround_a_failure(self) -> None:
        @dag(schedule=None)
        def scoped():
            @setup
            def make():
                return "cluster"

            @task
            def work():
                raise RuntimeError("broken")

            @teardown
            def remove():
                return "removed"

            made = make()
            made >> work() >> remove().as_teardown(setups=made)

        run = scoped().test()
        self.assertEqual(run.state, "failed")
        self.assertEqual(states(run), {"make": "success", "work": "failed", "remove": "success"})

    def test_callbacks_of_tasks_and_of_the_dag_are_called(self) -> None:
        called = []

        def note(name):
            return lambda context: called.append((name, getattr(context.get("ti"), "task_id", None)))

        @dag(schedule=None, on_failure_callback=note("dag failed"), on_success_callback=note("dag succeeded"))
        def calling():
            @task(retries=1, retry_delay=LONG, on_retry_callback=note("retry"), on_failure_callback=note("failure"))
            def fails():
                raise ValueError

            @task(on_success_callback=note("success"), on_execute_callback=note("execute"))
            def works(): ...

            works() >> fails()

        self.assertEqual(calling().test().state, "failed")
        self.assertEqual(
            called,
            [
                ("execute", "works"),
                ("success", "works"),
                ("retry", "fails"),
                ("failure", "fails"),
                ("dag failed", None),
            ],
        )

    def test_deferred_tasks_go_on_with_the_event_of_their_trigger(self) -> None:
        @dag(schedule=None)
        def deferred():
            Deferring(task_id="one", answer="hello")
            Deferring(task_id="late", answer="x", never=True, timeout=datetime.timedelta(milliseconds=20))
            Deferring(task_id="broken", answer="broken")
            TimeDeltaSensor(task_id="moment", delta=datetime.timedelta(milliseconds=30), deferrable=True)

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "v.json")
            with open(path, "w") as file:
                json.dump({"who": "world"}, file)
            run = deferred().test(variable_file_path=path)
        self.assertEqual(states(run), {"one": "success", "late": "failed", "broken": "failed", "moment": "success"})
        self.assertEqual(run.get_task_instance("one").xcom_pull(), ["hello world", 1, 1])

    def test_deferral_works_where_the_caller_has_an_event_loop_of_its_own(self) -> None:
        @dag(schedule=None)
        def within_a_loop():
            Deferring(task_id="one", answer="hello")

        async def test():
            return within_a_loop().test().state

        self.assertEqual(asyncio.run(test()), "success")

    def test_a_rescheduled_sensor_pokes_until_its_condition_holds(self) -> None:
        pokes = []

        @dag(schedule=None)
        def rescheduled():
            def ready():
                pokes.append(1)
                return len(pokes) > 2

            PythonSensor(task_id="wait", python_callable=ready, mode="reschedule", poke_interval=0.01)

        run = rescheduled().test()
        self.assertEqual((run.state, len(pokes), run.get_task_instance("wait").try_number), ("success", 3, 1))

    def test_fail_fast_and_a_timeout_of_the_run_skip_what_is_left(self) -> None:
        @dag(schedule=None, fail_fast=True)
        def fast():
            @task(priority_weight=10)
            def fail():
                raise ValueError

            fail()
            BashOperator(task_id="other", bash_command="exit 3")

        @dag(schedule=None, dagrun_timeout=datetime.timedelta(milliseconds=1))
        def slow():
            @task
            def sleep():
                import time

                time.sleep(0.01)

            sleep() >> BashOperator(task_id="never", bash_command="exit 3")

        self.assertEqual(states(fast().test()), {"fail": "failed", "other": "skipped"})
        run = slow().test()
        self.assertEqual((run.state, states(run)["never"]), ("failed", "skipped"))


class Arguments(Quiet):
    def test_dates_and_conf_reach_the_tasks(self) -> None:
        @dag(schedule="@daily", start_date=datetime.datetime(2024, 1, 1), params={"n": Param(3, type="integer")})
        def dated():
            @task
            def show(dag_run=None, params=None, **context):
                interval = [context["data_interval_start"].isoformat(), context["data_interval_end"].isoformat()]
                return [context.get("ds"), params["n"], dag_run.conf, interval, dag_run.run_id]

            show()

        built = dated()
        when = datetime.datetime(2024, 3, 5, tzinfo=datetime.timezone.utc)
        run = built.test(logical_date=when, run_after=when, run_conf={"n": 4, "x": 1})
        value = run.get_task_instance("show").xcom_pull()
        self.assertEqual(value[:3], ["2024-03-05", 4, {"n": 4, "x": 1}])
        self.assertEqual(value[4], "manual__2024-03-05T00:00:00+00:00")
        self.assertEqual(run.logical_date.isoformat(), "2024-03-05T00:00:00+00:00")
        with self.assertRaisesRegex(ValueError, "Invalid input for param n"):
            built.test(run_conf={"n": "four"})

    def test_the_same_dag_can_run_twice_with_other_values(self) -> None:
        @dag(schedule=None)
        def twice():
            Templated(task_id="render", text="{{ dag_run.conf.who }} {{ ti.map_index }}")

        built = twice()
        found = [built.test(run_conf={"who": who}).get_task_instance("render").xcom_pull() for who in ("a", "b")]
        self.assertEqual(found, ["a -1", "b -1"])

    def test_variables_and_connections_come_from_files(self) -> None:
        @dag(schedule=None)
        def reading():
            @task
            def read():
                Variable.set("new", "set by the task")
                connection = Connection.get("db")
                return [Variable.get("a", deserialize_json=True), Variable.get("new"), connection.host, connection.port]

            read()

        with tempfile.TemporaryDirectory() as folder:
            variables, connections = os.path.join(folder, "v.json"), os.path.join(folder, "c.env")
            with open(variables, "w") as file:
                json.dump({"a": {"b": 1}}, file)
            with open(connections, "w") as file:
                file.write("# databases\ndb=postgres://me:secret-word@db.example:5432/main\n")
            built = reading()
            run = built.test(variable_file_path=variables, conn_file_path=connections)
            self.assertEqual(
                run.get_task_instance("read").xcom_pull(), [{"b": 1}, "set by the task", "db.example", 5432]
            )
            self.assertEqual(built.test().state, "failed", "the values of one run are not those of the next")

    def test_tasks_that_match_mark_success_pattern_do_not_run(self) -> None:
        @dag(schedule=None)
        def marked():
            @task
            def upload():
                raise AssertionError("it must not run")

            upload() >> EmptyOperator(task_id="after")

        self.assertEqual(states(marked().test(mark_success_pattern="up.*")), {"upload": "success", "after": "success"})

    def test_what_is_not_supported_is_refused_with_a_reason(self) -> None:
        @dag(schedule=None)
        def other_runs():
            TriggerDagRunOperator(task_id="start", trigger_dag_id="another")

        built = other_runs()
        with self.assertRaisesRegex(AirflowException, "use_executor=True"):
            built.test(use_executor=True)
        run = built.test()
        self.assertEqual(run.state, "failed")
        self.assertIn("knows no others", run.get_task_instance("start").failure)

    def test_ctrl_c_and_the_end_of_the_debugger_end_the_test_and_not_only_the_task(self) -> None:
        @dag(schedule=None)
        def interrupted():
            @task
            def stop():
                raise KeyboardInterrupt

            stop()

        built = interrupted()
        with self.assertRaises(KeyboardInterrupt):
            built.test()
        with self.assertRaises(RuntimeError):
            get_current_context()

    def test_an_event_of_an_asset_reaches_the_tasks_after_it(self) -> None:
        table = Asset("s3://bucket/key")

        @dag(schedule=None)
        def assets():
            @task(outlets=[table])
            def write(outlet_events=None):
                outlet_events[table].extra = {"rows": 5}

            @task(inlets=[table, Asset("other")])
            def read(inlet_events=None):
                return [[event.extra for event in inlet_events[key]] for key in (table, Asset("other"))]

            write() >> read()

        run = assets().test()
        self.assertEqual(run.get_task_instance("read").xcom_pull(), [[{"rows": 5}], []])


class WithoutARun(unittest.TestCase):
    def test_an_operator_executes_with_a_context_of_the_test(self) -> None:
        self.assertEqual(Templated(task_id="t", text="plain").execute(context={}), "plain")
        self.assertEqual(BashOperator(task_id="b", bash_command="echo hi").execute(context={}), "hi")


class Bags(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(sys.path.__setitem__, slice(None), list(sys.path))

    def write(self, **files: str) -> None:
        for name, text in files.items():
            path = os.path.join(self.folder, name.replace("__", "/"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path if name.endswith("ignore") else path + ".py", "w", encoding="utf-8") as file:
                file.write(text)

    def test_a_bag_has_the_dags_of_a_folder_and_the_errors_of_files_that_do_not_load(self) -> None:
        self.write(
            good='from airflow.sdk import DAG\nfrom dagtest_helper import ID\nwith DAG(ID, tags=["team"]): ...\n',
            dagtest_helper="ID = 'good'\n",
            other="raise RuntimeError('no DAG file')\n",
            broken="from airflow.sdk import DAG\nx = 1 / 0\n",
            same="from airflow.sdk import DAG\nwith DAG('good'): ...\n",
            top="from airflow.sdk import DAG\nwith DAG('top') as d: ...\nd.test()\n",
            recorded="from airflow.sdk import DAG\nfrom airflow.providers.nowhere.operators.x import YOperator\n"
            "with DAG('recorded'):\n    YOperator(task_id='y', a=1)\n",
            left__out="from airflow.sdk import DAG\nwith DAG('left_out'): ...\n",
        )
        with open(os.path.join(self.folder, ".airflowignore"), "w") as file:
            file.write("# comment\nleft/\n")
        bag = DagBag(dag_folder=self.folder, include_examples=False)
        self.assertEqual(sorted(bag.dags), ["good", "recorded"])
        self.assertEqual((bag.size(), bag.get_dag("good").tags, bag.get_dag("none")), (2, {"team"}, None))
        errors = {os.path.basename(path): text for path, text in bag.import_errors.items()}
        self.assertEqual(sorted(errors), ["broken.py", "same.py", "top.py"])
        self.assertIn("line 2", errors["broken.py"])
        self.assertIn("ZeroDivisionError", errors["broken.py"])
        self.assertIn("is defined in", errors["same.py"])
        self.assertIn("__main__", errors["top.py"])
        with self.assertRaises(ModuleNotFoundError):
            importlib.import_module("airflow.providers.nowhere.operators.x")

    def test_a_dag_of_a_bag_runs(self) -> None:
        self.write(
            one="from airflow.sdk import dag, task\n@dag\ndef one():\n    @task\n    def t(): return 5\n    t()\none()\n"
        )
        bag = DagBag(os.path.join(self.folder, "one.py"))
        with contextlib.redirect_stdout(io.StringIO()):
            run = bag.get_dag("one").test()
        self.assertEqual(run.get_task_instance("t").xcom_pull(), 5)

    def test_patterns_of_airflowignore_count_as_in_airflow(self) -> None:
        for name in ("a", "keep__b", "sub__a", "sub__deep__x_test", "sub__y"):
            self.write(**{name: ""})
        with open(os.path.join(self.folder, ".airflowignore"), "w") as file:
            file.write("/a.py\n**/*_test.py\nkeep/*\n!keep/b.py\nsub/?.py\n!sub/y.py\n")
        found = [os.path.relpath(path, self.folder) for path in dag_files(self.folder)]
        self.assertEqual(found, ["keep/b.py", "sub/y.py"])


if __name__ == "__main__":
    unittest.main()
