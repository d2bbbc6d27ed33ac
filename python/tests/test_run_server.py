"""The fork server: loading, forking, ending, and what it must never leave behind."""

from __future__ import annotations

import os
import signal
import time
import unittest

from .run_agent import Agent

SIMPLE = """
    from airflow.sdk import DAG, task
    from airflow.providers.standard.operators.bash import BashOperator

    with DAG("d", schedule=None):
        @task
        def one(ds=None):
            print("hello", ds)
            return {"a": 1}

        @task
        def two(x):
            return x["a"] + 1

        two(one())
        BashOperator(task_id="bash", bash_command="echo {{ ds }}; echo last")
"""


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def gone(pids) -> bool:
    return not any(alive(pid) for pid in pids)


class Running(unittest.TestCase):
    def test_values_travel_from_task_to_task(self) -> None:
        with Agent(SIMPLE) as agent:
            self.assertTrue(agent.loaded["preloaded"], agent.loaded)
            one = agent.run("one")
            self.assertEqual(one.result["state"], "success", one.text())
            self.assertEqual(one.value(), {"a": 1})
            self.assertEqual(one.events("task.stdout"), ["hello 2024-05-01"])
            self.assertEqual(agent.run("two", values={"one": one.value()}).value(), 2)
            bash = agent.run("bash")
            self.assertEqual(bash.value(), "last")
            self.assertIn("2024-05-01", bash.events())
            self.assertEqual(bash.exit["status"], 0)


if __name__ == "__main__":
    unittest.main()
