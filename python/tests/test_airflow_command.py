"""The program `airflow` that Bash tasks find on their path: through their task, with its rights and no others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest

from . import PYTHON
from .run_agent import Agent, Refused

TEXT = """
    from airflow.sdk import DAG, task
    from airflow.providers.standard.operators.bash import BashOperator

    with DAG("d"):
        BashOperator(task_id="get", bash_command="airflow variables get region")
        BashOperator(task_id="default", bash_command="airflow variables get nothing --default none")
        BashOperator(task_id="refused", bash_command="airflow variables get hidden")
        BashOperator(task_id="write", bash_command="airflow variables set region us && airflow variables delete old")
        BashOperator(task_id="connection", bash_command="airflow connections get db -o json")
        BashOperator(task_id="trigger", bash_command='airflow dags trigger -c \\'{"a": 1}\\' -r mine other -o json')
        BashOperator(task_id="states", bash_command="airflow dags state other mine; airflow tasks state other t mine")
        BashOperator(task_id="own_env", env={"A": "b"}, bash_command="airflow version; type airflow")
        BashOperator(
            task_id="nested",
            bash_command="python3 -c 'import subprocess; subprocess.run([\\"airflow\\", \\"variables\\", \\"get\\", \\"region\\"])'",
        )
        BashOperator(task_id="no_right", bash_command="airflow dags pause other || echo $?")
        BashOperator(task_id="no_such", bash_command="airflow db migrate || echo $?")
        BashOperator(task_id="wrong_key", bash_command="SVC_TASK_SOCKET_KEY=x airflow variables get region")
        BashOperator(task_id="left", bash_command="dirname $SVC_TASK_SOCKET")
"""


def variable(key: str):
    if key == "region":
        return {"key": key, "value": "eu"}
    raise Refused(f"no {key}", "not_found" if key == "nothing" else "denied")


class AirflowCommand(unittest.TestCase):
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        cls.agent = Agent.ready(TEXT)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.agent.close()

    def run_task(self, task_id: str, status: str = "success", **answers):
        attempt = self.agent.run(task_id, answers={"get_variable": variable, **answers})
        self.assertEqual(attempt.result["state"], status, attempt.text())
        return attempt

    def asked(self, attempt) -> list:
        return [(request["method"], request["params"]) for request in attempt.requests]

    def test_reads_and_writes_values_as_the_task_may(self) -> None:
        self.assertEqual(self.run_task("get").value(), "eu")
        self.assertEqual(self.run_task("default").value(), "none")
        self.assertIn("airflow: no hidden", self.run_task("refused", "failed").text())
        self.assertEqual(
            self.asked(self.run_task("write")),
            [
                ("set_variable", {"key": "region", "value": "us", "description": None}),
                ("delete_variable", {"key": "old"}),
            ],
        )
        found = self.run_task("connection", get_connection={"conn_type": "http", "host": "h", "password": "p4ss"})
        self.assertEqual(json.loads(found.value())[0]["host"], "h")

    def test_triggers_runs_and_tells_states(self) -> None:
        made = {"run_id": "mine", "logical_date": None, "state": "queued"}
        attempt = self.run_task("trigger", trigger_dag_run=made)
        self.assertEqual(json.loads(attempt.value())[0]["dag_run_id"], "mine")
        [(_, params)] = self.asked(attempt)
        self.assertEqual((params["dag_id"], params["conf"], params["run_id"]), ("other", {"a": 1}, "mine"))
        states = {
            "dag_exists": True,
            "missing_task_ids": [],
            "states": [{"task_id": "t", "map_index": -1, "state": "failed"}],
        }
        told = self.run_task("states", get_dag_run_state={"state": "running"}, external_states=states)
        self.assertEqual(told.events()[-2:], ["running", "failed"])

    def test_is_found_by_programs_of_programs_and_in_an_environment_of_the_authors_own(self) -> None:
        self.assertIn("3.2.2", self.run_task("own_env").text())
        self.assertEqual(self.run_task("nested").value(), "eu")

    def test_says_what_to_use_for_what_it_does_not_do_and_fails(self) -> None:
        refused = self.run_task("no_right")
        self.assertIn("SVC_SERVER_URL and SVC_TOKEN", refused.text())
        self.assertEqual(refused.value(), "1")
        unknown = self.run_task("no_such")
        self.assertIn("svc has no command airflow db migrate: use svc db", unknown.text())
        self.assertEqual(unknown.value(), "2")

    def test_answers_only_the_programs_of_its_task_and_leaves_nothing_behind(self) -> None:
        self.assertIn("the task does not answer this", self.run_task("wrong_key", "failed").text())
        self.assertFalse(os.path.exists(self.run_task("left").value()))

    def test_outside_of_a_task_it_needs_a_control_plane(self) -> None:
        program = os.path.join(PYTHON, "svc_runtime", "bin", "airflow")
        env = {"PATH": os.environ["PATH"], "SVC_TASK_PYTHON": sys.executable, "SVC_SERVER_URL": "http://127.0.0.1:9"}
        ended = subprocess.run([program, "dags", "list"], env=env, capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("http://127.0.0.1:9 cannot be reached", ended.stderr)
