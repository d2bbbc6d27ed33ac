"""What attempts had to load for themselves, and later ones find."""

from __future__ import annotations

import os
import tempfile
import textwrap
import time
import unittest

from .run_agent import PATIENCE, Agent

GROUPS = """
import sys
from airflow.sdk import dag, get_current_context, task

def helper():
    return get_current_context()["ds"]

@dag(schedule=None)
def d():
    @task
    def known():
        return [name in sys.modules for name in ("pendulum", "jinja2")]

    @task
    def asks():
        return helper()

    @task
    def providers():
        is_known = "svc_runtime.run.providers_manager" in sys.modules
        from airflow.providers_manager import ProvidersManager
        return [is_known, "providers" in vars(ProvidersManager())]

    known(), asks(), providers()
d()
"""

OPERATORS = """
import importlib, os, sys
from airflow.sdk import BaseOperator

class Loads(BaseOperator):
    def __init__(self, *, names, **arguments):
        super().__init__(**arguments)
        self.names = names

    def execute(self, context):
        known = [name in sys.modules for name in self.names]
        for name in self.names:
            importlib.import_module(name)
        return known
"""
# As installed packages; each is loaded by attempts, and should be by the server where nothing is against it.
PACKAGES = {
    "pack/__init__.py": "",
    "pack/operators.py": OPERATORS,
    "pack_driver/__init__.py": "from . import inner",
    "pack_driver/inner.py": "",
    "pack_threads.py": """
        import threading
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    """,
    "pack_once.py": """
        import os
        if "OF_A_TASK" not in os.environ:
            raise ImportError("only in a task")
    """,
    "pack_last.py": "",
}
PROJECT = {"of_the_project.py": ""}
USES = """
import importlib, sys
from airflow.sdk import DAG, task
from pack.operators import Loads

class Own(Loads): ...

with DAG("d", schedule=None):
    Loads(task_id="packaged", names=["pack_driver", "of_the_project"])
    Loads(task_id="obstinate", names=["pack_threads", "pack_once", "pack_last"])
    Own(task_id="own", names=["pack_last"])
    @task
    def function():
        is_known = "pack_last" in sys.modules
        import pack_last
        return is_known
    function()
"""


class Groups(unittest.TestCase):
    def test_what_one_attempt_had_to_load_the_later_ones_find(self) -> None:
        with Agent.ready(GROUPS) as agent:
            self.assertEqual(agent.run("known").value(), [False, False])
            self.assertEqual(agent.run("asks").value(), "2024-05-01")
            agent.pump(lambda: agent.spare is not None and agent.spare.hello is not None)
            agent.run("known")  # taken by a spare from before that
            self.assertEqual(agent.run("known").value(), [True, False])

    def test_what_the_file_promises_to_use_is_there_for_the_first_attempt(self) -> None:
        for promise in ("def known(ds):", "def known(**context):"):
            with self.subTest(promise), Agent.ready(GROUPS.replace("def known():", promise)) as agent:
                self.assertTrue(agent.run("known").value()[0])
        with Agent.ready(GROUPS + "\n# {{ ds }}") as agent:
            self.assertEqual(agent.run("known").value(), [True, True])

    def test_the_metadata_of_providers_is_read_once(self) -> None:
        with Agent.ready(GROUPS) as agent:
            found = [agent.run("providers").value() for _ in range(4)]
        self.assertEqual((found[0], found[-1]), ([False, False], [True, True]))


class Modules(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        packages = os.path.join(folder.name, "site-packages")
        for name, text in PACKAGES.items():
            path = os.path.join(packages, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(textwrap.dedent(text))
        self.agent = Agent.ready(USES, files=PROJECT, settings={"PYTHONPATH": packages})
        self.addCleanup(self.agent.close)

    def loads(self, task: str):
        """Which of them it found loaded."""
        attempt = self.agent.run(task, env={"OF_A_TASK": "1"})
        self.assertEqual(attempt.result["state"], "success", attempt.text())
        return attempt.value()

    def until(self, task: str, expected) -> None:
        deadline = time.monotonic() + PATIENCE
        while (found := self.loads(task)) != expected:
            self.assertLess(time.monotonic(), deadline, f"{task} finds {found}")

    def test_what_an_operator_of_a_package_loads_is_loaded_once(self) -> None:
        self.assertEqual([self.loads("packaged"), self.loads("packaged")], [[False, False]] * 2)
        # But not what belongs to the project.
        self.until("packaged", [True, False])

    def test_what_code_of_the_project_loads_is_not(self) -> None:
        for _ in range(4):
            self.assertEqual((self.loads("function"), self.loads("own")), (False, [False]))

    def test_what_an_attempt_says_to_be_installed_and_is_not_is_left_out(self) -> None:
        for _ in range(2):
            self.agent.tell({"op": "load_late", "names": ["of_the_project", "no such module", "pack_driver"]})
        self.loads("packaged")
        self.until("packaged", [True, False])

    def test_what_starts_threads_or_cannot_be_loaded_is_left_to_attempts_and_the_rest_is_not(self) -> None:
        self.until("obstinate", [False, False, True])
        self.assertEqual(len(os.listdir(f"/proc/{self.agent.server.pid}/task")), 1)

    def test_a_server_ends_while_modules_are_tried(self) -> None:
        self.agent.tell({"op": "load_late", "names": ["pack_last"]})
        self.agent.tell({"op": "load_late", "names": ["pack_last", "no_such_module"]})
        self.agent.stdin.close()
        self.assertEqual(self.agent.server.wait(PATIENCE), 0)
