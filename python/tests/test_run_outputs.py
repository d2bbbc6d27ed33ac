"""Descriptors 1 and 2 of attempts, from the pipe to the agent."""

from __future__ import annotations

import os
import signal
import unittest

from .run_agent import Agent

WRITERS = """
import os, signal, subprocess, sys, tempfile, time
from airflow.sdk import dag, task

def piece(number, size=1000):
    return (b"%d " % number) * size

@dag(schedule=None)
def d():
    @task
    def nothing(): ...

    @task
    def much():
        for number in range(1000):
            os.write(1, piece(number))

    @task
    def last_words(how):
        os.write(1, b"out")
        os.write(2, b"err")
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif how == "exit":
            os._exit(3)
        elif how == "program":
            subprocess.run(["sh", "-c", "echo more; echo worse >&2"])

    @task
    def closes():
        os.close(1)
        os.close(2)

    @task
    def leaves_a_writer():
        with tempfile.TemporaryDirectory() as folder:
            script = "trap '' TERM HUP; echo begun; : > $0/begun; while :; do sleep 1; echo on; done"
            subprocess.Popen(["sh", "-c", script, folder], start_new_session=True)
            while not os.path.exists(folder + "/begun"):
                time.sleep(0.01)

    @task
    def opens_by_name():
        subprocess.run(["sh", "-c", "echo named > /dev/stdout"], check=True)

    nothing(), much(), last_words("killed"), closes(), leaves_a_writer(), opens_by_name()
    for how in ("exit", "program", "return"):
        last_words.override(task_id=how)(how)
d()
"""


def _whole() -> bytes:
    return b"".join((b"%d " % number) * 1000 for number in range(1000))


class Outputs(unittest.TestCase):
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        cls.agent = Agent.ready(WRITERS)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.agent.close()

    def test_a_silent_attempt_makes_no_connection_but_its_own(self) -> None:
        attempt = self.agent.run("nothing")
        self.assertEqual(attempt.connections, ["control"])
        self.assertEqual(self.agent.run("closes").connections, ["control"])

    def test_last_words_are_with_the_agent_when_the_exit_is_said_however_the_attempt_ended(self) -> None:
        for task, more in (("last_words", b""), ("exit", b""), ("return", b""), ("program", b"more\n")):
            with self.subTest(task):
                attempt = self.agent.run(task)
                worse = b"worse\n" if more else b""
                self.assertEqual(attempt.streams_at_exit, {"stdout": b"out" + more, "stderr": b"err" + worse})
                self.assertEqual(sorted(attempt.connections), ["control", "stderr", "stdout"])

    def test_much_output_arrives_whole_and_in_order(self) -> None:
        self.assertEqual(self.agent.run("much").streams_at_exit["stdout"], _whole())

    def test_an_agent_that_does_not_read_one_stream_holds_up_nobody_else(self) -> None:
        self.agent.unread_streams = []
        noisy = self.agent.start("much")
        self.agent.pump(lambda: self.agent.unread_streams)
        for _ in range(5):
            self.assertEqual(self.agent.run("nothing").result["state"], "success")
        self.assertIsNone(noisy.result)
        self.agent.read_streams()
        self.agent.pump(lambda: noisy.over)
        self.assertEqual(noisy.streams_at_exit["stdout"], _whole())

    def test_an_attempt_that_is_killed_while_the_agent_does_not_read_ends_when_it_reads_again(self) -> None:
        self.agent.unread_streams = []
        noisy = self.agent.start("much")
        self.agent.pump(lambda: self.agent.unread_streams)
        self.agent.kill(noisy, signal.SIGKILL)
        self.assertEqual(self.agent.run("nothing").result["state"], "success")
        self.assertIsNone(noisy.exit)
        self.agent.read_streams()
        self.agent.pump(lambda: noisy.over)
        self.assertEqual(noisy.exit["signal"], signal.SIGKILL)
        self.assertTrue(_whole().startswith(noisy.streams["stdout"]))

    def test_a_process_that_left_the_attempts_group_does_not_keep_the_exit_back(self) -> None:
        attempt = self.agent.run("leaves_a_writer")
        self.assertEqual(attempt.exit["status"], 0)
        self.assertTrue(attempt.streams_at_exit["stdout"].startswith(b"begun\n"))

    def test_programs_may_open_their_output_by_name(self) -> None:
        self.assertEqual(self.agent.run("opens_by_name").streams["stdout"], b"named\n")

    def test_an_agent_that_refuses_a_stream_does_not_keep_the_attempt(self) -> None:
        self.agent.refuses_streams = True
        try:
            attempt = self.agent.start("program")
            self.agent.pump(lambda: attempt.exit is not None)
        finally:
            self.agent.refuses_streams = False
        self.assertEqual(attempt.streams, {"stdout": b"", "stderr": b""})

    def test_nothing_is_left_open_in_the_server(self) -> None:
        self.agent.run("nothing")
        folder = f"/proc/{self.agent.server.pid}/fd"
        few = len([0, 1, 2, "commands", "events", "children", *["wake"] * 2, *["spare"] * 2])
        for _ in range(3):
            self.agent.run("program")
        self.agent.pump(lambda: len(os.listdir(folder)) <= few)
