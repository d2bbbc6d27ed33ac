"""Secrets that the server is told once, and its attempts have by the fork."""

from __future__ import annotations

import unittest

from .run_agent import Agent

LOOKS = """
    import os
    from airflow.sdk import DAG, Variable, task

    with DAG("d", schedule=None):
        @task
        def looks():
            print("the token is", os.environ.get("AIRFLOW_VAR_API_TOKEN"), "and was canary-one")
            names = ("AIRFLOW_VAR_API_TOKEN", "AIRFLOW_VAR_PLAIN", "OF_THE_WORKER")
            many = [name for name in os.environ if name.startswith("AIRFLOW_VAR_MANY")]
            return [*(os.environ.get(name) for name in names), len(many)]
        looks()
"""
FIRST = {
    "id": "one",
    "base": "",
    "env": {"AIRFLOW_VAR_API_TOKEN": "canary-one", "AIRFLOW_VAR_PLAIN": "plain", "OF_THE_WORKER": "hidden"},
    "masks": ["canary-one"],
}
SECOND = {
    "id": "two",
    "base": "one",
    "env": {"AIRFLOW_VAR_API_TOKEN": "canary-two"},
    "unset": ["AIRFLOW_VAR_PLAIN", "OF_THE_WORKER"],
    "masks": ["canary-two"],
    "unmask": ["canary-one"],
}


class Given(unittest.TestCase):
    def setUp(self) -> None:
        self.agent = Agent.ready(LOOKS, settings={"OF_THE_WORKER": "its own"})
        self.addCleanup(self.agent.close)

    def tell(self, given: dict) -> None:
        self.agent.tell_and_replace_spare({"op": "secrets", **given})

    def look(self, **job):
        attempt = self.agent.run("looks", **job)
        self.assertEqual(attempt.result["state"], "success", attempt.text())
        return attempt

    def test_those_who_are_forked_later_have_them(self) -> None:
        before = self.look()
        self.assertEqual((before.secrets, before.value()), ("", [None, None, "its own", 0]))
        self.tell(FIRST)
        for _ in range(2):  # the second is the spare of the first
            attempt = self.look()
            self.assertEqual((attempt.secrets, attempt.value()), ("one", ["canary-one", "plain", "hidden", 0]))
            self.assertIn("the token is *** and was ***", attempt.events())
            self.assertNotIn("unclean", attempt.exit)

    def test_a_spare_of_before_says_so(self) -> None:
        self.agent.pump(lambda: self.agent.spare is not None and self.agent.spare.hello is not None)
        self.tell(FIRST)
        self.agent.pump(lambda: self.agent.spare is not None)
        self.assertEqual([e["generation"] for e in self.agent.events if e["event"] == "spare"], [0, 1])

    def test_what_was_changed_or_deleted_is_gone_for_the_next(self) -> None:
        self.tell(FIRST)
        self.look()
        self.tell(SECOND)
        for _ in range(2):
            attempt = self.look()
            self.assertEqual((attempt.secrets, attempt.value()), ("two", ["canary-two", None, "its own", 0]))
            self.assertIn("the token is *** and was canary-one", attempt.events())

    def test_one_that_was_forked_before_is_told_with_its_job(self) -> None:
        self.tell(FIRST)
        self.assertEqual(self.look(given=SECOND).value(), ["canary-two", None, "its own", 0])
        # All of it, for one whose state nobody remembers; and none, for a job that has no secrets.
        whole = {**SECOND, "base": "", "unset": [], "unmask": []}
        self.assertEqual(self.look(given=whole).value(), ["canary-two", None, "its own", 0])
        self.assertEqual(self.look(given={"id": "", "base": ""}).value(), [None, None, "its own", 0])
        self.assertEqual(self.look(env={"AIRFLOW_VAR_PLAIN": "of the task"}).value()[1], "of the task")

    def test_a_tenant_without_any(self) -> None:
        self.tell({"id": "none", "base": "", "env": {}, "unset": [], "masks": [], "unmask": []})
        self.assertEqual((attempt := self.look()).value(), [None, None, "its own", 0])
        self.assertEqual(attempt.secrets, "none")

    def test_thousands_of_them(self) -> None:
        many = {f"AIRFLOW_VAR_MANY_{number}": str(number) for number in range(3_000)}
        self.tell({**FIRST, "env": many})
        self.assertEqual(self.look().value()[3], 3_000)
        fewer = [name for name in many if name.endswith("7")]
        self.tell({"id": "fewer", "base": "one", "unset": fewer, "env": {}})
        self.assertEqual(self.look().value()[3], 2_700)


if __name__ == "__main__":
    unittest.main()
