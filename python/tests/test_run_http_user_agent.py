"""The User-Agent that the operator sets reaches tasks and the provider's HTTP hook."""

from __future__ import annotations

import os
import shutil
import tempfile
import unittest

from .run_agent import Agent

# The shape of the provider's module: it makes sessions by the name it imported.
HOOK = """
from airflow.sdk import BaseHook
from airflow.utils.strings import to_boolean

class Session:
    def __init__(self):
        self.headers = {"User-Agent": "python-requests/2"}

class HttpHook(BaseHook):
    def get_conn(self, headers=None):
        session = Session()
        session.headers.update(headers or {})
        return session
"""

TEXT = """
    import os
    from airflow.sdk import DAG, task

    with DAG("d", schedule=None):
        @task
        def agents():
            from airflow.providers.http.hooks.http import HttpHook
            hook = HttpHook()
            named = hook.get_conn({"User-Agent": "mine"}).headers["User-Agent"]
            return [os.environ.get("SVC_HTTP_USER_AGENT"), hook.get_conn().headers["User-Agent"], named]

        agents()
"""


class HttpUserAgent(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        hooks = os.path.join(self.folder, "airflow", "providers", "http", "hooks")
        os.makedirs(hooks)
        with open(os.path.join(hooks, "http.py"), "w", encoding="utf-8") as file:
            file.write(HOOK)

    def agents(self, **settings):
        with Agent.ready(TEXT, settings={"PYTHONPATH": self.folder, **settings}) as agent:
            attempt = agent.run("agents")
            self.assertEqual(attempt.result["state"], "success", attempt.text())
            return attempt.value()

    def test_it_is_the_default_of_the_hook_and_a_named_one_wins(self) -> None:
        self.assertEqual(self.agents(SVC_HTTP_USER_AGENT="flows/7"), ["flows/7", "flows/7", "mine"])

    def test_without_one_the_library_says_its_own(self) -> None:
        self.assertEqual(self.agents(SVC_HTTP_USER_AGENT=""), ["", "python-requests/2", "mine"])
