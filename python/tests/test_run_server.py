"""The fork server: loading, forking, ending, and what it must never leave behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import unittest
from typing import Any

from . import PYTHON
from .nightly import IS_NIGHTLY
from .run_agent import PATIENCE, Agent

SIMPLE = """
    import os
    from airflow.sdk import DAG, task
    from airflow.providers.standard.operators.bash import BashOperator

    print("said while loading")

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

        @task
        def pids():
            return [os.getpid(), os.getsid(0), os.getpgid(0), os.getppid()]

        pids()
"""

FAMILY = """
    import os, subprocess, sys, time
    from airflow.sdk import DAG, task
    from airflow.providers.standard.operators.bash import BashOperator

    SLEEP = [sys.executable, "-c", "import time; time.sleep(1000)"]

    def families():
        # One child, one in a session of its own, one that left its parent behind.
        found = [subprocess.Popen(SLEEP).pid, subprocess.Popen(SLEEP, start_new_session=True).pid]
        double = "import subprocess, sys; print(subprocess.Popen(sys.argv[1:], start_new_session=True, stdout=2).pid)"
        found.append(int(subprocess.run([sys.executable, "-c", double, *SLEEP], stdout=subprocess.PIPE).stdout))
        return found

    with DAG("d", schedule=None):
        @task
        def leaves():
            return families()

        @task
        def waits():
            print(*families())
            time.sleep(1000)

        leaves(), waits()
        BashOperator(task_id="bash", bash_command="sleep 1000 & echo $! $$; wait; true")
"""


def children(pid: int) -> list:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return file.read().split()


def ready_spare(agent: Agent) -> Any:
    agent.pump(lambda: agent.spare is not None and agent.spare.hello is not None)
    return agent.spare


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until_gone(test: unittest.TestCase, pids, patience: float = PATIENCE) -> None:
    deadline = time.monotonic() + patience
    while left := [pid for pid in pids if alive(pid)]:
        test.assertLess(time.monotonic(), deadline, f"still alive: {left}")
        time.sleep(0.005)


def wait_until_reaped(test: unittest.TestCase, server: int, pid: int, patience: float = PATIENCE) -> None:
    deadline = time.monotonic() + patience
    while str(pid) in children(server):
        test.assertLess(time.monotonic(), deadline, f"not reaped: {pid}")
        time.sleep(0.001)


class Running(unittest.TestCase):
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        cls.agent = Agent.ready(SIMPLE)
        cls.addClassCleanup(cls.agent.close)

    def test_values_travel_from_task_to_task(self) -> None:
        agent = self.agent
        self.assertTrue(agent.loaded["preloaded"], agent.loaded)
        one = agent.run("one")
        self.assertEqual(one.result["state"], "success", one.text())
        self.assertEqual(one.value(), {"a": 1})
        self.assertEqual(one.events("task.stdout"), ["hello 2024-05-01"])
        self.assertEqual(agent.run("two", values={"one": one.value()}).value(), 2)
        bash = agent.run("bash")
        self.assertEqual(bash.value(), "last")
        self.assertIn("2024-05-01", bash.events())
        self.assertEqual(bash.exit, {"event": "exit", "attempt": bash.name, "status": 0, "signal": None})
        self.assertIn(b"said while loading", agent.stderr)

    def test_every_attempt_is_a_process_with_a_session_of_its_own(self) -> None:
        agent = self.agent
        one, two = agent.run("pids"), agent.run("pids")
        for attempt in (one, two):
            pid, session, group, parent = attempt.value()
            self.assertEqual([pid, session, group, parent], [attempt.pid] * 3 + [agent.server.pid])
        self.assertNotEqual(one.pid, two.pid)

    def test_dozens_of_attempts_leave_no_process_and_no_zombie(self) -> None:
        agent = self.agent
        for _ in range(10 if IS_NIGHTLY else 3):
            attempts = [agent.start("one") for _ in range(20)]
            agent.pump(lambda attempts=attempts: all(attempt.over for attempt in attempts))
            self.assertEqual({attempt.result["state"] for attempt in attempts}, {"success"})
        known = {attempt.pid for attempt in agent.attempts.values()}
        with open(f"/proc/{agent.server.pid}/task/{agent.server.pid}/children", encoding="ascii") as file:
            left = {int(word) for word in file.read().split()}
        self.assertLessEqual(len(left - known), 1, "at most the spare")
        self.assertEqual(left & known, set())
        fds = [0, 1, 2, "commands", "events", "children", *["wake"] * 2, *["spare"] * 2]
        # One more for a moment, while a spare is made.
        agent.pump(lambda: len(os.listdir(f"/proc/{agent.server.pid}/fd")) <= len(fds))

    def test_a_server_for_one_attempt_makes_nothing_ready_for_others(self) -> None:
        with Agent.ready(SIMPLE, arguments=("--one-attempt",)) as agent:
            self.assertEqual(children(agent.server.pid), [])
            attempt = agent.run("one")
            self.assertEqual(attempt.value(), {"a": 1})
            # What it does after the end of one has been done when the next one is forked.
            self.assertEqual(agent.run("bash").value(), "last")
            self.assertEqual(children(agent.server.pid), [])

    def test_the_job_may_come_late_or_never(self) -> None:
        agent = self.agent
        attempt = agent.start("one", hold=True)
        agent.pump(lambda: attempt.control is not None and attempt.open == 1)
        agent.kill(attempt, signal.SIGTERM)
        agent.pump(lambda: attempt.over)
        self.assertEqual((attempt.result, attempt.exit["signal"]), (None, signal.SIGTERM))

    def test_a_spare_child_that_dies_costs_nothing(self) -> None:
        agent = self.agent
        for _ in range(3):
            first = agent.run("one")
            ready_spare(agent)
            with open(f"/proc/{agent.server.pid}/task/{agent.server.pid}/children", encoding="ascii") as file:
                for word in file.read().split():
                    self.assertNotEqual(int(word), first.pid)
                    os.kill(int(word), signal.SIGKILL)
            attempts = [agent.start("one") for _ in range(3)]
            agent.pump(lambda attempts=attempts: all(attempt.over for attempt in attempts))
            lost = [attempt for attempt in attempts if attempt.result is None]
            # The one that got the dying spare, at most, and it was told.
            self.assertEqual([attempt.exit["signal"] for attempt in lost], [signal.SIGKILL] * len(lost))
            self.assertLessEqual(len(lost), 1)

    def test_an_attempt_is_given_to_the_child_that_has_said_hello_before(self) -> None:
        agent = self.agent
        for _ in range(3):
            spare = ready_spare(agent)
            attempt = agent.run("pids")
            self.assertEqual((attempt.took, attempt.pid), (spare.key, spare.hello[0]["pid"]))
            self.assertEqual(attempt.connections, ["control"])
            self.assertEqual(attempt.value()[0], attempt.pid)

    def test_the_job_of_a_spare_that_had_died_is_run_by_another(self) -> None:
        agent = self.agent
        pid = ready_spare(agent).hello[0]["pid"]
        os.kill(pid, signal.SIGKILL)
        # The server may have another spare by now: the attempt before may have begun before this spare had said hello.
        wait_until_reaped(self, agent.server.pid, pid)
        attempt = agent.run("one")  # we have not heard of its end
        self.assertEqual((attempt.value(), attempt.exit["status"], attempt.took), ({"a": 1}, 0, None))
        self.assertNotEqual(attempt.pid, pid)

    def test_a_spare_that_ends_before_its_order_is_read_has_run_the_attempt(self) -> None:
        agent = self.agent
        pid = ready_spare(agent).hello[0]["pid"]
        os.kill(agent.server.pid, signal.SIGSTOP)
        try:
            attempt = agent.start("one")
            agent.pump(lambda: attempt.result is not None and attempt.open == 0)
            self.assertEqual((attempt.pid, attempt.exit), (None, None))
        finally:
            os.kill(agent.server.pid, signal.SIGCONT)
        agent.pump(lambda: attempt.over)
        self.assertEqual((attempt.pid, attempt.exit["status"], attempt.value()), (pid, 0, {"a": 1}))

    def test_a_child_has_no_descriptor_of_the_server(self) -> None:
        text = """
            import os
            from airflow.sdk import DAG, task
            with DAG("d", schedule=None):
                @task
                def fds():
                    return sorted(os.readlink(f"/proc/self/fd/{n}").split(":")[0] for n in os.listdir("/proc/self/fd")[:-1])
                fds()
        """
        with Agent(text) as agent:
            # One that is forked for its attempt, one that was a spare, and the next of either kind.
            attempts = [agent.run("fds")]
            ready_spare(agent)
            attempts += [agent.run("fds"), agent.run("fds")]
            for attempt in attempts:
                self.assertEqual(attempt.value(), ["/dev/null", "pipe", "pipe", "socket"])


class Loading(unittest.TestCase):
    def failed(self, text: str, **options) -> dict:
        with Agent(text, **options) as agent:
            self.assertEqual(agent.loaded["event"], "failed", agent.loaded)
            attempt = agent.start("x")
            agent.pump(lambda: attempt.exit is not None)
            self.assertEqual(attempt.exit["status"], 1)
            return agent.loaded

    def test_a_file_that_fails_says_where_and_a_fork_is_still_answered(self) -> None:
        failed = self.failed("import json\nraise ValueError('top level')\n")
        self.assertEqual(failed["error"], "ValueError: top level")
        self.assertIn('dag.py", line 2', failed["traceback"])

    def test_a_file_that_exits_does_not_end_the_server(self) -> None:
        self.assertIn("SystemExit", self.failed("import sys\nsys.exit(3)\n")["error"])

    def test_a_missing_dag_is_named_with_those_that_exist(self) -> None:
        failed = self.failed('from airflow.sdk import DAG\nwith DAG("other"):\n    pass\n')
        self.assertEqual(failed["error"], "the file defines no DAG 'd'; it defines 'other'")

    def test_one_of_many_dags_renamed_with_helpers_beside_the_file(self) -> None:
        text = """
            from airflow.sdk import DAG, task
            from lib.helper import double
            for name in ("a", "b"):
                with DAG(name, schedule=None):
                    @task
                    def t(dag=None, ti=None, name=name):
                        return [name, dag.dag_id, ti.dag_id, double(2)]
                    t()
        """
        files = {"lib/__init__.py": "", "lib/helper.py": "def double(x):\n    return 2 * x\n"}
        with Agent(text, dag_id="b", files=files) as agent:
            attempt = agent.run("t", dag_id="renamed", python_dag_id="b")
            self.assertEqual(attempt.value(), ["b", "renamed", "renamed", 4])

    def test_the_registered_text_runs_whatever_the_disk_says(self) -> None:
        text = """
            from airflow.sdk import DAG, task
            import inspect
            with DAG("d", schedule=None):
                @task
                def t():
                    return inspect.getsource(t.function)
                t()
                @task
                def fails():
                    raise ValueError("here")
                fails()
        """
        with Agent(text, files={"dag.py": "raise RuntimeError('changed since')\n"}) as agent:
            self.assertIn("return inspect.getsource", agent.run("t").value())
            self.assertIn('raise ValueError("here")', agent.run("fails").text())

    def test_a_file_that_starts_threads_is_loaded_in_each_child_instead(self) -> None:
        text = """
            import threading, time
            from airflow.sdk import DAG, task
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
            with DAG("d", schedule=None):
                @task
                def t():
                    return threading.active_count()
                t()
        """
        with Agent(text) as agent:
            self.assertEqual((agent.loaded["event"], agent.loaded["preloaded"]), ("ready", False))
            self.assertEqual(len(os.listdir(f"/proc/{agent.server.pid}/task")), 1)
            self.assertEqual([agent.run("t").value(), agent.run("t").value()], [2, 2])

    def test_what_was_said_before_a_restart_without_preload_is_not_lost(self) -> None:
        text = """
            import threading, time
            from airflow.sdk import DAG, task
            time.sleep(0.3)
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
            with DAG("d", schedule=None):
                @task
                def t():
                    return 1
                t()
        """
        agent = Agent(text)
        try:
            attempts = [agent.start("t"), agent.start("t")]
            agent.pump(lambda: all(attempt.over for attempt in attempts))
            self.assertEqual([attempt.value() for attempt in attempts], [1, 1])
        finally:
            agent.close()

    def test_a_file_that_fails_only_in_the_child_fails_the_attempt(self) -> None:
        text = """
            import os, threading, time
            from airflow.sdk import DAG
            if os.environ.get("BROKEN"):
                raise ValueError("broken here")
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
            DAG("d", schedule=None)
            dag = DAG("d", schedule=None)
        """
        with Agent(text) as agent:
            attempt = agent.run("t", env={"BROKEN": "1"})
            self.assertEqual(attempt.result["state"], "failed")
            self.assertIn("ValueError: broken here", attempt.result["failure"]["text"])

    def test_environment_of_the_load_reaches_the_file_and_secrets_only_the_child(self) -> None:
        text = """
            import os
            from airflow.sdk import DAG, task
            AT_LOAD = [os.environ.get("OF_THE_FILE"), os.environ.get("AIRFLOW_CONN_X")]
            with DAG("d", schedule=None):
                @task
                def t():
                    return AT_LOAD + [os.environ.get("AIRFLOW_CONN_X")]
                t()
        """
        with Agent(text, env={"OF_THE_FILE": "yes"}) as agent:
            self.assertEqual(agent.run("t", env={"AIRFLOW_CONN_X": "http://h"}).value(), ["yes", None, "http://h"])
            self.assertEqual(agent.run("t").value(), ["yes", None, None])


class Ending(unittest.TestCase):
    def test_whatever_an_attempt_started_ends_with_it(self) -> None:
        with Agent(FAMILY) as agent:
            attempt = agent.run("leaves")
            self.assertEqual(len(attempt.value()), 3)
            wait_until_gone(self, attempt.value())

    def family(self, agent: Agent) -> tuple:
        waits, bash = agent.start("waits"), agent.start("bash")
        agent.pump(lambda: waits.events("task.stdout") and bash.records)
        pids = [int(word) for word in f"{waits.events('task.stdout')[0]} {bash.events()[0]}".split()]
        return waits, bash, [*pids, waits.pid, bash.pid]

    def test_kill_takes_the_whole_family(self) -> None:
        with Agent(FAMILY) as agent:
            waits, bash, pids = self.family(agent)
            agent.kill(waits, signal.SIGKILL)
            agent.kill(bash, signal.SIGKILL)
            agent.pump(lambda: waits.over and bash.over)
            self.assertEqual({waits.exit["signal"], bash.exit["signal"]}, {signal.SIGKILL})
            wait_until_gone(self, pids)

    def test_children_die_when_the_agent_closes_stdin(self) -> None:
        with Agent(FAMILY) as agent:
            pids = self.family(agent)[2]
            agent.stdin.close()
            agent.server.wait(PATIENCE)
            wait_until_gone(self, pids)

    def test_attempts_die_when_the_server_is_killed(self) -> None:
        with Agent(FAMILY) as agent:
            waits, bash, pids = self.family(agent)
            agent.server.kill()
            agent.server.wait(PATIENCE)
            wait_until_gone(self, [waits.pid, bash.pid])
            # What the agent does then: their groups still bear their names.
            for attempt in (waits, bash):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(attempt.pid, signal.SIGKILL)
            for pid in pids:
                if alive(pid) and os.getsid(pid) == pid:
                    os.kill(pid, signal.SIGKILL)  # left the group on purpose; nobody but the server knew it
            wait_until_gone(self, pids)

    def test_the_server_dies_with_an_agent_that_vanishes(self) -> None:
        # The pipe's other end stays open in this process, so that only the parent's death can tell.
        read, write = os.pipe()
        script = (
            "import subprocess, sys, time\n"
            "p = subprocess.Popen([sys.executable, '-m', 'svc_runtime.run_server'], stdin=0)\n"
            "print(p.pid, flush=True)\n"
            "time.sleep(1000)\n"
        )
        agent = subprocess.Popen([sys.executable, "-c", script], stdin=read, stdout=subprocess.PIPE, cwd=PYTHON)
        try:
            assert agent.stdout is not None
            server = int(agent.stdout.readline())
            load: dict = {"op": "load", "socket": "", "dags_folder": "/", "dag_id": "d", "fileloc": "/dag.py"}
            load["source"] = {
                "path": "dag.py",
                "module": "svc_dag_dag",
                "text": "from airflow.sdk import DAG\nx = DAG('d')",
            }
            os.write(write, json.dumps(load).encode() + b"\n")
            self.assertIn(b"ready", agent.stdout.readline())
            agent.kill()
            agent.wait(PATIENCE)
            wait_until_gone(self, [server])
        finally:
            agent.kill()
            if agent.stdout is not None:
                agent.stdout.close()
            os.close(read)
            os.close(write)


class OneAttempt(unittest.TestCase):
    def test_loads_nothing_that_most_attempts_do_not_use(self) -> None:
        program = "import sys; from svc_runtime.run_server.preload import preload_common; preload_common(); print(*sys.modules)"
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        dear = {"shutil", "hashlib", "uuid", "decimal", "dataclasses", "urllib.parse", "svc_runtime.run.files"}
        self.assertEqual(dear & set(run.stdout.split()), set())


if __name__ == "__main__":
    unittest.main()
