"""Every operator and decorator of the standard set, run for real."""

from __future__ import annotations

import datetime
import os
import sys
import types
import unittest

from .run_agent import Agent, Refused

UTC = datetime.timezone.utc

# As much of such a package as shows that both sides use it: a function travels as its code.
SERIALIZER = """
import io, marshal, pickle, types
from pickle import load, loads
def _make(code):
    return types.FunctionType(marshal.loads(code), {})
class _Pickler(pickle.Pickler):
    def reducer_override(self, value):
        return (_make, (marshal.dumps(value.__code__),)) if getattr(value, "__name__", "") == "<lambda>" else NotImplemented
def dump(value, file, **options):
    _Pickler(file).dump(value)
def dumps(value):
    dump(value, file := io.BytesIO())
    return file.getvalue()
"""

OPERATORS = """
    import datetime, json, os, sys
    from datetime import timedelta
    from airflow.sdk import DAG, Asset, AssetAlias, Metadata, Param, PokeReturnValue, TaskGroup, asset, task
    from airflow.providers.standard.operators.bash import BashOperator
    from airflow.providers.standard.operators.datetime import BranchDateTimeOperator
    from airflow.providers.standard.operators.empty import EmptyOperator
    from airflow.providers.standard.operators.hitl import (
        ApprovalOperator, HITLBranchOperator, HITLEntryOperator, HITLOperator)
    from airflow.providers.standard.operators.latest_only import LatestOnlyOperator
    from airflow.providers.standard.operators.python import (
        BranchExternalPythonOperator, BranchPythonOperator, BranchPythonVirtualenvOperator, ExternalPythonOperator,
        PythonOperator, PythonVirtualenvOperator, ShortCircuitOperator)
    from airflow.providers.standard.operators.smooth import SmoothOperator
    from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
    from airflow.providers.standard.operators.weekday import BranchDayOfWeekOperator

    def elsewhere(a, b=1, ds=None):
        import os, sys
        print("said elsewhere")
        return {"sum": a + b, "mark": os.environ.get("MARK"), "ds": ds, "exe": sys.executable}

    def choose():
        return "left"

    def exits():
        import sys
        sys.exit(42)

    def with_texts(function):
        return [function(2), virtualenv_string_args]

    out, alias = Asset("out"), AssetAlias("alias")

    with DAG("d", schedule=None):
        left, right, below = (EmptyOperator(task_id=name) for name in ("left", "right", "below"))
        [left, right] >> below

        def branch(operator):
            operator >> [left, right]

        EmptyOperator(task_id="empty")
        SmoothOperator(task_id="smooth")
        BashOperator(task_id="bash", bash_command="echo $X-$AIRFLOW_CTX_TASK_ID-$HOME$SVC_ATTEMPT; exit {{ params.code }}", env={"X": "x"},
                     output_processor=str.upper)
        BashOperator(task_id="bash_cwd", bash_command="pwd", cwd="/nowhere/at/all")
        PythonOperator(task_id="python", python_callable=lambda a, *, b, ds: [a, b, ds], op_args=[1], op_kwargs={"b": 2})
        branch(BranchPythonOperator(task_id="branch", python_callable=choose))
        branch(BranchPythonOperator(task_id="branch_nowhere", python_callable=lambda: None))
        branch(BranchPythonOperator(task_id="branch_both", python_callable=lambda: ["left", "right"]))
        branch(BranchPythonOperator(task_id="branch_elsewhere", python_callable=lambda: "bash"))
        branch(BranchPythonOperator(task_id="branch_wrong", python_callable=lambda: "nowhere"))
        for code, name in ((1, "open"), (0, "shut")):
            gate = ShortCircuitOperator(task_id=name, python_callable=lambda code=code: code)
            gate >> EmptyOperator(task_id=f"{name}_next") >> EmptyOperator(task_id=f"{name}_last")
        branch(BranchDayOfWeekOperator(task_id="weekday", week_day="Wednesday", use_task_logical_date=True,
                                       follow_task_ids_if_true="left", follow_task_ids_if_false="right"))
        branch(BranchDateTimeOperator(task_id="datetime", use_task_logical_date=True, follow_task_ids_if_true="left",
                                      follow_task_ids_if_false="right", target_lower=datetime.time(11), target_upper=None))
        LatestOnlyOperator(task_id="latest") >> [left, right]
        ExternalPythonOperator(task_id="external", python=sys.executable, python_callable=elsewhere, op_args=[2],
                               op_kwargs={"b": 3}, env_vars={"MARK": "m"})
        ExternalPythonOperator(task_id="external_skip", python=sys.executable, python_callable=exits, skip_on_exit_code=42)
        ExternalPythonOperator(task_id="external_fail", python=sys.executable, python_callable=exits)
        for serializer in ("dill", "cloudpickle"):
            ExternalPythonOperator(task_id=f"external_{serializer}", python=sys.executable, python_callable=with_texts,
                                   serializer=serializer, op_args=[lambda x: x + 1], string_args=["a b", "c\\nd", 5])
        ExternalPythonOperator(task_id="external_pickle", python=sys.executable, python_callable=with_texts,
                               op_args=[lambda x: x + 1])
        ExternalPythonOperator(task_id="external_use_dill", python=sys.executable, python_callable=with_texts,
                               use_dill=True, op_args=[lambda x: x + 1], string_args=["a b", "c\\nd", 5])
        ExternalPythonOperator(task_id="external_not_there", python=sys.executable, python_callable=with_texts,
                               serializer="cloudpickle", op_args=[len], inherit_env=False)
        branch(BranchExternalPythonOperator(task_id="external_branch", python=sys.executable, python_callable=choose))
        PythonVirtualenvOperator(task_id="venv", python_callable=elsewhere, op_args=[1], venv_cache_path=os.environ["VENVS"])
        branch(BranchPythonVirtualenvOperator(task_id="venv_branch", python_callable=choose, venv_cache_path=os.environ["VENVS"]))
        TriggerDagRunOperator(task_id="trigger", trigger_dag_id="other", conf={"d": "{{ ds }}"}, logical_date="2024-01-02")
        TriggerDagRunOperator(task_id="trigger_skip", trigger_dag_id="other", skip_when_already_exists=True)
        TriggerDagRunOperator(task_id="trigger_wait", trigger_dag_id="other", wait_for_completion=True, poke_interval=0.01)
        HITLOperator(task_id="human", subject="on {{ ds }}", options=["a", "b"], params={"n": Param(1, type="integer")},
            assigned_users=[{"id": "u", "name": "U"}, "v"], response_timeout=timedelta(minutes=1))
        ApprovalOperator(task_id="approval", subject="s") >> EmptyOperator(task_id="approved")
        HITLBranchOperator(task_id="human_branch", subject="s", options=["l", "right"], options_mapping={"l": "left"}) >> [left, right]
        HITLEntryOperator(task_id="form", subject="s", params={"n": 1})

        @task.branch
        def deco_branch():
            return "left"

        branch(deco_branch())

        @task.short_circuit
        def deco_gate():
            return False

        deco_gate() >> EmptyOperator(task_id="deco_gate_next")

        @task.bash(env={"Y": "{{ ds }}"}, append_env=True)
        def deco_bash(word):
            return f"echo {word} $Y"

        deco_bash("hi")

        @task.bash(multiple_outputs=True, output_processor=json.loads)
        def deco_bash_many():
            return "echo '" + json.dumps({"a": 1, "b": "two"}) + "'"

        deco_bash_many()

        @task.bash(multiple_outputs=True)
        def deco_bash_text():
            return "echo text"

        deco_bash_text()

        @task.virtualenv(venv_cache_path=os.environ["VENVS"])
        def deco_venv(x):
            return x + 1

        deco_venv(1)

        @task.external_python(python=sys.executable)
        def deco_external(x):
            return x + 1

        deco_external(2)

        @task.branch_external_python(python=sys.executable)
        def deco_external_branch():
            return "left"

        branch(deco_external_branch())

        @task.branch_virtualenv(venv_cache_path=os.environ["VENVS"])
        def deco_venv_branch():
            return "left"

        branch(deco_venv_branch())

        @task.stub
        def deco_stub(): ...

        deco_stub()

        @task(outlets=[out, alias])
        def produces(outlet_events):
            outlet_events[out].extra = {"rows": 3}
            outlet_events[alias].add(Asset("dynamic", "s3://b/k"), extra={"z": 1})

        @task(outlets=[out])
        def describes():
            yield Metadata(out, {"rows": 4})
            return 1

        @task(inlets=[out], outlets=[out])
        def reads(inlet_events, triggering_asset_events):
            newest = inlet_events[out][-1]
            found = {asset.name: [event.extra for event in events] for asset, events in triggering_asset_events.items()}
            return [newest.extra, newest.source_dag_id, str(newest.timestamp), found]

        produces(), describes(), reads()

    @asset(schedule=None)
    def made(self, context, outlet_events):
        return [self.name, context["run_id"], outlet_events[self].key.name]
"""


class Operators(unittest.TestCase):
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        import tempfile

        venvs = tempfile.TemporaryDirectory()
        cls.addClassCleanup(venvs.cleanup)
        packages = tempfile.TemporaryDirectory()
        cls.addClassCleanup(packages.cleanup)
        for name in ("dill", "cloudpickle"):
            with open(os.path.join(packages.name, f"{name}.py"), "w", encoding="utf-8") as file:
                file.write(SERIALIZER)
        settings = {"PYTHONPATH": packages.name}
        cls.agent = Agent.ready(OPERATORS, env={"VENVS": venvs.name}, settings=settings)
        cls.addClassCleanup(cls.agent.close)

    def run_task(self, task_id: str, state: str = "success", **options):
        attempt = self.agent.run(task_id, **options)
        self.assertIsNotNone(attempt.result, (attempt.exit, attempt.text(), attempt.streams))
        self.assertEqual(attempt.result["state"], state, attempt.text())
        return attempt

    def skips(self, task_id: str, **options) -> list:
        return self.run_task(task_id, **options).result["skips"]

    def test_simple_ones(self) -> None:
        self.assertEqual(self.run_task("empty").result["xcoms"], [])
        self.assertIn("Smooth Operator", self.run_task("smooth").text())
        self.assertEqual(self.run_task("python").value(), [1, 2, "2024-05-01"])

    def test_bash(self) -> None:
        self.assertEqual(self.run_task("bash", params={"code": 0}).value(), "X-BASH-")
        # The environment is the author's alone, but for the mark by which strays are found.
        marked = self.run_task("bash", params={"code": 0}, env={"SVC_ATTEMPT": "mark", "HOME": "/"})
        self.assertEqual(marked.value(), "X-BASH-MARK")
        self.run_task("bash", "skipped", params={"code": 99})
        failed = self.run_task("bash", "failed", params={"code": 3}).result["failure"]["text"]
        self.assertEqual(failed, "AirflowException: Bash command failed. The command returned a non-zero exit code 3.")
        self.assertIn("Can not find the cwd", self.run_task("bash_cwd", "failed").result["failure"]["text"])

    def test_branches_name_what_to_skip(self) -> None:
        for task_id in ("branch", "deco_branch", "external_branch", "deco_external_branch", "weekday"):
            with self.subTest(task_id=task_id):
                attempt = self.run_task(task_id)
                self.assertEqual(attempt.result["skips"], ["right"])
                self.assertEqual(attempt.value("skipmixin_key"), {"followed": ["left"]})
                self.assertEqual(attempt.requests, [], "branching must not cost a round trip")
        self.assertEqual(self.skips("datetime"), ["left"])
        self.assertEqual(self.skips("branch_nowhere"), ["left", "right"])
        both = self.run_task("branch_both")
        self.assertEqual((both.result["skips"], both.value()), ([], ["left", "right"]))
        # As on Airflow, a task that is not downstream may be chosen, and changes nothing.
        self.assertEqual(self.skips("branch_elsewhere"), ["left", "right"])
        self.assertIn("only valid task_ids", self.run_task("branch_wrong", "failed").result["failure"]["text"])

    def test_short_circuits(self) -> None:
        self.assertEqual(self.run_task("open").value(), 1)
        self.assertEqual(self.skips("shut"), ["shut_last", "shut_next"])
        self.assertEqual(self.skips("deco_gate"), ["deco_gate_next"])

    def test_latest_only_asks_when_the_next_run_is_due(self) -> None:
        self.assertEqual(self.skips("latest"), [])  # by hand: always
        soon = (datetime.datetime.now(UTC) + datetime.timedelta(hours=1)).isoformat()
        scheduled = {"run_type": "scheduled"}
        self.assertEqual(self.skips("latest", run=scheduled, answers={"next_run_after": soon}), [])
        self.assertEqual(self.skips("latest", run=scheduled, answers={"next_run_after": None}), [])
        late = self.skips("latest", run=scheduled, answers={"next_run_after": "2024-05-02T00:00:00Z"})
        self.assertEqual(late, ["left", "right"])

    def test_other_interpreters(self) -> None:
        external = self.run_task("external")
        found = external.value()
        self.assertEqual(os.path.realpath(found.pop("exe")), os.path.realpath(sys.executable))
        self.assertEqual(found, {"sum": 5, "mark": "m", "ds": "2024-05-01"})
        self.assertIn("said elsewhere", external.events())
        self.run_task("external_skip", "skipped")
        self.assertIn("code 42", self.run_task("external_fail", "failed").result["failure"]["text"])
        self.assertEqual(self.run_task("deco_external").value(), 3)

    def test_the_serializer_that_was_named_is_used_on_both_sides(self) -> None:
        for name in ("external_dill", "external_use_dill", "external_cloudpickle"):
            self.assertEqual(self.run_task(name).value(), [3, ["a b", "c", "d", "5"]])
        self.assertIn("pickle", self.run_task("external_pickle", "failed").result["failure"]["text"])

    def test_a_serializer_that_is_missing_is_named(self) -> None:
        failure = self.run_task("external_not_there", "failed").result["failure"]["text"]
        self.assertIn("serializer='cloudpickle' needs the package cloudpickle in", failure)
        from svc_runtime.exceptions import AirflowException
        from svc_runtime.run.foreign_python import _serializer_of

        with self.assertRaisesRegex(AirflowException, "add no_such_package to the dependencies of the DAG"):
            _serializer_of(types.SimpleNamespace(serializer="no_such_package"))

    def test_an_environment_gets_the_serializer_unless_it_is_asked_for(self) -> None:
        from svc_runtime.run.foreign_python import _must_install_serializer

        def installs(serializer: str, *requirements: str, **options) -> bool:
            given = {"serializer": serializer, "system_site_packages": False, "python_version": None, **options}
            return _must_install_serializer(types.SimpleNamespace(**given), list(requirements))

        self.assertFalse(installs("pickle"))
        self.assertTrue(installs("dill"))
        self.assertTrue(installs("dill", "dillinger==1", "pandas"))
        self.assertFalse(installs("dill", " Dill>=0.3.8 ; python_version > '3'"))
        self.assertFalse(installs("cloudpickle", "cloudpickle"))
        # Another interpreter has other packages than ours.
        self.assertTrue(installs("dill", system_site_packages=True, python_version="3.9"))

    def test_virtual_environments(self) -> None:
        made = self.run_task("venv").value()
        self.assertEqual(made["sum"], 2)
        self.assertNotEqual(made["exe"], sys.executable)
        self.assertEqual(self.run_task("deco_venv").value(), 2)
        self.assertEqual(self.skips("venv_branch"), ["right"])
        self.assertEqual(self.skips("deco_venv_branch"), ["right"])

    def test_triggering_other_dags(self) -> None:
        attempt = self.run_task("trigger", answers={"trigger_dag_run": {"run_id": "made"}})
        asked, pushed = attempt.requests
        self.assertEqual(
            asked["params"],
            {
                "dag_id": "other",
                "run_id": None,
                "conf": {"d": "2024-05-01"},
                "logical_date": "2024-01-02T00:00:00Z",
                "run_after": asked["params"]["run_after"],
                "reset_dag_run": False,
                "fail_when_dag_is_paused": False,
                "note": None,
            },
        )
        self.assertEqual(pushed["params"], {"key": "trigger_run_id", "value": "made"})

        def exists(**_):
            raise Refused("a run with this id exists", "conflict")

        self.run_task("trigger_skip", "skipped", answers={"trigger_dag_run": exists})
        failed = self.run_task("trigger", "failed", answers={"trigger_dag_run": exists})
        self.assertEqual(
            failed.result["failure"]["text"], "AirflowException: cannot trigger other: a run with this id exists"
        )

    def test_waiting_for_a_triggered_run(self) -> None:
        states = iter(["queued", "running", "success"])
        answers = {"trigger_dag_run": {"run_id": "r"}, "get_dag_run_state": lambda **_: {"state": next(states)}}
        self.run_task("trigger_wait", answers=answers)
        answers["get_dag_run_state"] = "failed"
        failed = self.run_task("trigger_wait", "failed", answers=answers)
        self.assertIn("other, run r, is failed", failed.result["failure"]["text"])

    def test_questions_are_asked_and_end_the_attempt(self) -> None:
        asking = {"kind": "waiting", "until": None, "is_new": True}
        attempt = self.run_task("human", "reschedule", answers={"ask_person": asking})
        (asked,) = attempt.requests
        self.assertEqual(
            (asked["method"], asked["params"]),
            (
                "ask_person",
                {
                    "subject": "on 2024-05-01",
                    "body": None,
                    "options": ["a", "b"],
                    "defaults": None,
                    "multiple": False,
                    "params": {"n": {"value": 1, "schema": {"type": "integer"}, "description": None}},
                    "assigned_users": {"users": [{"id": "u", "name": "U"}, {"id": "v", "name": "v"}]},
                    "timeout": 60,
                },
            ),
        )
        self.assertIn("Waiting for an answer", attempt.text())
        self.assertEqual(attempt.result["xcoms"], [])
        until = {"kind": "waiting", "until": "2024-06-01T00:00:00.000001Z", "is_new": False}
        waiting = self.run_task("human", "reschedule", answers={"ask_person": until})
        self.assertEqual(waiting.result["reschedule_at"], "2024-06-01T00:00:00.000001Z")

    def answered(self, *options: str, **params) -> dict:
        answer = {"chosen_options": list(options), "params_input": params, "responded_at": "2024-05-01T00:00:00Z"}
        return {"ask_person": {"kind": "answered", "answer": {**answer, "responded_by_user": None}}}

    def test_answers_are_returned_and_decide_what_follows(self) -> None:
        value = self.run_task("human", answers=self.answered("b", n=3)).value()
        self.assertEqual((value["chosen_options"], value["params_input"]), (["b"], {"n": 3}))
        self.assertEqual(self.run_task("form", answers=self.answered("OK", n=2)).value()["params_input"], {"n": 2})
        self.assertEqual(self.skips("approval", answers=self.answered("Approve")), [])
        rejected = self.run_task("approval", answers=self.answered("Reject"))
        pushed = rejected.requests[-1]["params"]["value"]
        self.assertEqual((rejected.result["skips"], pushed["chosen_options"]), (["approved"], ["Reject"]))
        self.assertEqual(self.skips("human_branch", answers=self.answered("l")), ["right"])
        self.assertEqual(self.skips("human_branch", answers=self.answered("right")), ["left"])

    def test_a_question_nobody_answered_says_so(self) -> None:
        failed = self.run_task("human", "failed", answers={"ask_person": {"kind": "expired"}})
        self.assertEqual(failed.result["failure"]["cause"], "unanswered")
        self.assertIn("nobody answered within 60 seconds", failed.result["failure"]["text"])

    def test_tasks_without_a_body_say_so(self) -> None:
        self.assertIn("no body", self.run_task("deco_stub", "failed").result["failure"]["text"])

    def test_decorated_bash(self) -> None:
        said = self.run_task("deco_bash")
        self.assertEqual(said.value(), "hi 2024-05-01")
        self.assertEqual(said.result["rendered_fields"]["bash_command"], "echo hi $Y")
        many = self.run_task("deco_bash_many")
        self.assertEqual((many.value(), many.value("a"), many.value("b")), ({"a": 1, "b": "two"}, 1, "two"))
        # Text has no keys, so there is nothing to push one by one.
        self.assertEqual(self.run_task("deco_bash_text").value(), "text")

    def test_asset_events_of_outlets_and_aliases(self) -> None:
        self.assertEqual(
            self.run_task("produces").result["asset_events"],
            [
                {"asset": {"name": "out", "uri": "out"}, "extra": {"rows": 3}, "alias": None},
                {"asset": {"name": "dynamic", "uri": "s3://b/k"}, "extra": {"z": 1}, "alias": "alias"},
            ],
        )
        described = self.run_task("describes")
        self.assertEqual((described.value(), described.result["asset_events"][0]["extra"]), (1, {"rows": 4}))

    def test_reading_asset_events(self) -> None:
        event = {"asset": {"name": "out", "uri": "out"}, "extra": {"n": 1}, "timestamp": "2024-01-01T00:00:00Z"}

        def asset_events(triggering=False, **_):
            return [event] if triggering else [event, {**event, "extra": {"n": 2}, "source_dag_id": "maker"}]

        attempt = self.run_task("reads", answers={"asset_events": asset_events})
        self.assertEqual(attempt.value(), [{"n": 2}, "maker", "2024-01-01 00:00:00+00:00", {"out": [{"n": 1}]}])

    def test_an_asset_made_by_a_function(self) -> None:
        with Agent(OPERATORS, dag_id="made", env={"VENVS": "/tmp"}) as agent:
            attempt = agent.run("made", dag_id="made", python_dag_id="made")
            self.assertEqual(attempt.value(), ["made", "manual__1", "made"])
            self.assertEqual(attempt.result["asset_events"][0]["asset"]["name"], "made")


if __name__ == "__main__":
    unittest.main()
