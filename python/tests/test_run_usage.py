"""What an attempt says that it has used: processor, memory and bytes, with the processes that it started."""

from __future__ import annotations

import unittest

from .run_agent import Agent

TEXT = """
    import os, signal, subprocess, sys, time
    from airflow.sdk import DAG, task

    def burn(seconds):
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass

    with DAG("d", schedule=None):
        @task
        def idle():
            pass

        @task
        def burns():
            burn(0.2)

        @task
        def starts_a_program():
            subprocess.run([sys.executable, "-c", "x = b'x' * (128 << 20); sum(range(6_000_000))"], check=True)

        @task
        def frees_memory():
            block = bytearray(os.urandom(1)) * (64 << 20)
            del block
            time.sleep(0.31)

        @task
        def is_killed():
            burn(0.2)
            os.kill(os.getpid(), signal.SIGKILL)

        idle(); burns(); starts_a_program(); frees_memory(); is_killed()
"""
MIB = 1 << 20


class UsageOfAttempts(unittest.TestCase):
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        cls.agent = Agent.ready(TEXT)
        cls.addClassCleanup(cls.agent.close)

    def used(self, task_id: str) -> dict:
        return self.agent.run(task_id).result["usage"]

    def test_has_the_processor_time_and_not_the_memory_that_it_shares_with_its_server(self):
        idle, busy = self.used("idle"), self.used("burns")
        self.assertLess(idle["memory"], 16 * MIB)
        self.assertGreaterEqual(busy["cpu"], 0.2)
        self.assertGreaterEqual(busy["run"], 0.2)
        self.assertGreaterEqual(min(idle["read"], idle["written"]), 0)

    def test_has_what_a_program_has_used_that_the_task_started(self):
        used = self.used("starts_a_program")
        self.assertGreaterEqual(used["memory"], 128 * MIB)
        self.assertGreater(used["cpu"], self.used("idle")["cpu"])

    def test_has_the_peak_of_the_memory_also_when_it_was_given_back(self):
        self.assertGreaterEqual(self.used("frees_memory")["memory"], 64 * MIB)

    def test_comes_from_the_kernel_when_the_process_was_killed(self):
        used = self.agent.run("is_killed").exit["usage"]
        self.assertGreaterEqual(used["cpu"], 0.2)
        self.assertGreater(used["memory"], MIB)
