"""Attempts that leave traces of every kind, and attempts that look for them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

from svc_runtime.run.kernel import children_of
from svc_runtime.run_server.leftovers import Leftovers
from svc_runtime.run_server.own_places import remove_tree
from svc_runtime.run_server.server import Server

from .run_agent import PATIENCE, Agent, drop_privileges

TRACES = """
    import locale, os, resource, signal, subprocess, sys, tempfile, threading, time
    from airflow.sdk import DAG, task
    import of_the_project
    tempfile.gettempdir()  # remembered by the module from here on

    with DAG("d", schedule=None):
        @task
        def leaves_traces():
            os.environ["TRACE"] = "left"
            os.putenv("TRACE_OF_C", "left")
            for folder in (os.environ["HOME"], tempfile.gettempdir(), "."):
                open(os.path.join(folder, "trace"), "w").close()
            os.umask(0)
            signal.signal(signal.SIGUSR1, lambda *_: None)
            os.set_inheritable(os.dup(os.open("/etc/hostname", os.O_RDONLY)), True)
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
            of_the_project.VALUE = "changed"
            sys.path.insert(0, "/trace")
            sys.modules["trace_module"] = sys
            locale.setlocale(locale.LC_ALL, "C")
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
            os.nice(1)
            os.chdir("/")

        @task
        def looks():
            return {
                "env": [name for name in os.environ if name.startswith("TRACE")],
                "c env": subprocess.run(["sh", "-c", "echo $TRACE_OF_C"], capture_output=True, text=True).stdout.strip(),
                "files": [
                    folder
                    for folder in (os.environ["HOME"], tempfile.gettempdir(), ".")
                    if os.path.exists(os.path.join(folder, "trace"))
                ],
                "umask": os.umask(0o022),
                "handler": signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL,
                "fds": sorted(os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
                              if os.path.exists(f"/proc/self/fd/{fd}") and "hostname" in os.readlink(f"/proc/self/fd/{fd}")),
                "threads": threading.active_count(),
                "value": of_the_project.VALUE,
                "path": "/trace" in sys.path,
                "module": "trace_module" in sys.modules,
                "files allowed": resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 64,
                "nice": os.nice(0),
                "places": {"home": os.environ["HOME"], "tmp": tempfile.gettempdir(), "work": os.getcwd()},
                "beside": os.path.exists("svc_runtime/run_server/__init__.py"),
                "mode": oct(os.stat(os.environ["HOME"]).st_mode & 0o777),
            }

        @task
        def leaves_files(outside):
            home, tmp = os.environ["HOME"], tempfile.gettempdir()
            for folder in (home, tmp, "."):
                os.symlink(outside, os.path.join(folder, "to a folder"))
                os.symlink(os.path.join(outside, "kept"), os.path.join(folder, "to a file"))
                os.symlink(folder, os.path.join(folder, "to itself"))
                for name in (b"-rf", b"new\\nline", b"not utf-8 \\xff", b"*"):
                    open(os.path.join(os.fsencode(folder), name), "w").close()
            os.makedirs(os.path.join(tmp, "closed", "inner"))
            open(os.path.join(tmp, "closed", "inner", "file"), "w").close()
            os.mkfifo(os.path.join(tmp, "fifo"))
            os.chmod(os.path.join(tmp, "closed", "inner"), 0)
            os.chmod(os.path.join(tmp, "closed"), 0o500)
            os.chdir(tmp)
            for _ in range(2_000):
                os.mkdir("deep")
                os.chdir("deep")
            return os.path.dirname(home)

        @task
        def leaves_processes(kind):
            if kind == "child":
                return subprocess.Popen(["sleep", "600"]).pid
            if kind == "session":
                return subprocess.Popen(["sleep", "600"], start_new_session=True).pid
            if kind == "nohup":
                return int(subprocess.check_output(["sh", "-c", "nohup sleep 600 >/dev/null 2>&1 & echo $!"]))
            if kind == "pool":
                import multiprocessing
                context = multiprocessing.get_context("fork")
                pool = context.Pool(1)
                globals()["kept"] = pool
                return pool.apply(os.getpid)
            read, write = os.pipe()
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    child = subprocess.Popen(["sleep", "600"])
                    os.write(write, str(child.pid).encode())
                    time.sleep(600)
                os._exit(0)
            return int(os.read(read, 100))

        @task
        def has_a_secret(folder):
            program = subprocess.Popen(["sleep", "600"], env={"SECRET": "canary"})
            with open(os.path.join(folder, "pids.new"), "w") as file:
                file.write(f"{os.getpid()} {program.pid}")
            os.rename(os.path.join(folder, "pids.new"), os.path.join(folder, "pids"))
            while not os.path.exists(os.path.join(folder, "go")):
                time.sleep(0.02)
            program.kill()
            program.wait()

        @task
        def spies(pids):
            def attempt(action):
                try:
                    return repr(action())
                except OSError as error:
                    return type(error).__name__
            found = {}
            for pid in (*pids, os.getppid()):
                for name in ("environ", "mem"):
                    found[f"{pid} {name}"] = attempt(lambda: open(f"/proc/{pid}/{name}", "rb").read(1))
                found[f"{pid} fd"] = attempt(lambda: os.readlink(f"/proc/{pid}/fd/0"))
                found[f"{pid} signal"] = attempt(lambda: os.kill(pid, 0))
            own = subprocess.Popen(["sleep", "600"], env={"OWN": "mine"})
            found["own"] = attempt(lambda: b"OWN" in open(f"/proc/{own.pid}/environ", "rb").read())
            own.terminate()
            found["ended own"] = own.wait() == -15
            return found

        @task
        def writes(path, text):
            with open(path, "a") as file:
                file.write(text)

        @task
        def loads_late():
            was_there = "asyncio" in sys.modules
            import asyncio
            return was_there

        leaves_traces(); looks(); leaves_files("{{ params.outside }}")
        leaves_processes("{{ params.kind }}"); has_a_secret("{{ params.folder }}"); spies("{{ params.pids }}")
        writes("{{ params.path }}", "# changed"); loads_late()
"""
LOADS = """
    import os
    from airflow.sdk import DAG, task

    def attempt(action):
        try:
            action()
            return "reached"
        except OSError as error:
            return type(error).__name__

    FOUND = {
        "signal": attempt(lambda: os.kill(OTHER, 0)),
        "environ": attempt(lambda: open("/proc/OTHER/environ", "rb").read(1)),
    }

    with DAG("d", schedule=None):
        @task
        def tells():
            return FOUND

        tells()
"""
# Native values: a list of pids stays one.
TRACES = TRACES.replace('DAG("d", schedule=None)', 'DAG("d", schedule=None, render_template_as_native_obj=True)')
PROJECT = {"of_the_project.py": 'VALUE = "as it was"\n'}


class Isolated(unittest.TestCase):
    """One server per class; `APART`: in folders of their own."""

    APART = True
    base: str
    folder: str
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        base = tempfile.TemporaryDirectory(prefix="svc-isolation-")
        cls.addClassCleanup(base.cleanup)
        cls.base = os.path.join(base.name, "places")
        cls.folder = base.name
        load = {"places": cls.base, "owns_machine": True} if cls.APART else {}
        # Root may look at everything; as in a pod, it has no such privileges.
        cls.agent = Agent.ready(TRACES, files=PROJECT, load=load, is_privileged=False)
        cls.addClassCleanup(cls.agent.close)

    def run_task(self, task_id: str, **params):
        attempt = self.agent.run(task_id, params=params)
        self.assertIsNotNone(attempt.result, (attempt.exit, attempt.text(), attempt.streams))
        self.assertEqual(attempt.result["state"], "success", attempt.text())
        return attempt

    def eventually(self, condition, what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            self.agent.pump(lambda: True)
            time.sleep(0.01)

    def leaves(self, kind: str):
        attempt = self.run_task("leaves_processes", kind=kind)
        pid = attempt.value()
        self.eventually(lambda: not is_running(pid), f"process {pid} of {kind} is still there")
        return attempt

    def spy(self) -> dict:
        """What one attempt can get of another, of a program of that one, and of the server."""
        sibling = self.agent.start("has_a_secret", params={"folder": self.folder})
        self.agent.pump(lambda: os.path.exists(os.path.join(self.folder, "pids")) or sibling.result is not None)
        try:
            with open(os.path.join(self.folder, "pids"), encoding="ascii") as file:
                pids = [int(word) for word in file.read().split()]
            return self.run_task("spies", pids=pids).value()
        finally:
            with open(os.path.join(self.folder, "go"), "w", encoding="ascii"):
                pass
            self.agent.pump(lambda: sibling.over)

    NOTHING = {
        "env": [],
        "c env": "",
        "files": [],
        "umask": 0o022,
        "handler": True,
        "fds": [],
        "threads": 1,
        "value": "as it was",
        "path": False,
        "module": False,
        "files allowed": True,
    }


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@unittest.skipUnless(sys.platform == "linux", "what is asked of the kernel is Linux's")
class Apart(Isolated):
    def test_nothing_of_an_attempt_is_found_by_the_next(self) -> None:
        before = self.run_task("looks").value()
        self.run_task("leaves_traces")
        after = self.run_task("looks").value()
        places = [found.pop("places") for found in (before, after)]
        self.assertEqual({name: after[name] for name in self.NOTHING}, self.NOTHING)
        self.assertEqual(before, after)
        self.assertEqual((after["mode"], after["beside"]), ("0o700", True))
        for name in ("home", "tmp", "work"):
            first, second = (place[name] for place in places)
            self.assertTrue(first.startswith(self.base), first)
            self.assertNotEqual(first, second)
            self.eventually(lambda path=first: not os.path.exists(path), f"{first} is still there")

    def test_files_of_every_kind_are_removed_and_links_are_not_followed(self) -> None:
        with tempfile.TemporaryDirectory() as outside:
            with open(os.path.join(outside, "kept"), "w", encoding="utf-8") as file:
                file.write("kept")
            place = self.run_task("leaves_files", outside=outside).value()
            self.eventually(lambda: not os.path.exists(place), f"{place} is still there")
            with open(os.path.join(outside, "kept"), encoding="utf-8") as file:
                self.assertEqual(file.read(), "kept")

    def test_processes_are_ended_and_make_it_unclean(self) -> None:
        for kind in ("child", "session", "nohup", "double fork"):
            attempt = self.leaves(kind)
            for said in (attempt.result, attempt.exit):
                self.assertRegex(said.get("unclean", ""), r"a task left \d running process", (kind, said))
        for said in (self.leaves("pool"), self.run_task("looks")):
            self.assertNotIn("unclean", said.result)
            self.assertNotIn("unclean", said.exit)

    def test_a_sibling_can_be_neither_read_nor_signalled(self) -> None:
        from svc_runtime.run_server.apart import Apart as Domain

        domain = Domain()
        if domain.version < 1:
            self.skipTest("this kernel has no Landlock")
        os.close(domain.ruleset)
        found = self.spy()
        self.assertEqual((found.pop("own"), found.pop("ended own")), ("True", True))
        signals = {name: found.pop(name) for name in list(found) if name.endswith("signal")}
        self.assertEqual(set(found.values()), {"PermissionError"}, found)
        if domain.keeps_signals:
            self.assertEqual(set(signals.values()), {"PermissionError"}, signals)

    def test_a_file_can_be_moved_to_another_folder(self) -> None:
        """Rules about files forbid that unless they allow it."""
        from svc_runtime.run_server.apart import Apart as Domain

        for version in (None, 5):
            if Domain(version).version < 2:
                self.skipTest("this kernel's Landlock allows no moves")
            pid = os.fork()
            if pid == 0:
                with tempfile.TemporaryDirectory() as folder:
                    os.makedirs(os.path.join(folder, "a", "moved"))
                    Domain(version).enter()
                    os.rename(os.path.join(folder, "a", "moved"), os.path.join(folder, "moved"))
                os._exit(0)
            self.assertEqual(os.waitpid(pid, 0)[1], 0, version)

    def test_what_the_dag_file_does_while_it_is_loaded_reaches_no_other_process(self) -> None:
        """It is author code too, and runs in the server that is forked for every attempt."""
        from svc_runtime.run_server.apart import Apart as Domain

        if not Domain().keeps_signals:
            self.skipTest("this kernel's Landlock does not scope signals")
        other = subprocess.Popen(["sleep", "600"], preexec_fn=drop_privileges)  # noqa: PLW1509  tests have one thread
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        load = {"places": os.path.join(self.folder, "loading")}
        for settings, expected in ((load, "PermissionError"), ({}, "reached")):
            text = LOADS.replace("OTHER", str(other.pid))
            with Agent.ready(text, load=settings, is_privileged=False) as agent:
                found = agent.run("tells").value()
                self.assertEqual(found, {"signal": expected, "environ": expected})

    def test_shared_memory_is_removed(self) -> None:
        path = f"/dev/shm/svc-test-{os.getpid()}"
        try:
            self.assertNotIn("unclean", self.run_task("writes", path=path).exit)
            self.assertFalse(os.path.exists(path))
        finally:
            if os.path.exists(path):
                os.unlink(path)

    def test_what_an_attempt_had_to_load_later_ones_find(self) -> None:
        first = self.run_task("loads_late")
        self.assertEqual((first.value(), first.result["late"]), (False, ["asyncio"]))
        self.eventually(lambda: self.run_task("loads_late").value(), "it is not loaded")


@unittest.skipUnless(sys.platform == "linux", "what is asked of the kernel is Linux's")
class ApartFiles(Isolated):
    """What makes the server unclean for good is at the end of a class of its own."""

    def test_changed_files_of_the_version_make_it_unclean(self) -> None:
        project = os.path.join(self.agent.folder, "of_the_project.py")
        self.assertIn(project, self.run_task("writes", path=project).exit["unclean"])

    def test_a_new_module_beside_them_too(self) -> None:
        with Agent.ready(TRACES, files=PROJECT, load={"places": os.path.join(self.folder, "others")}) as agent:
            data = agent.run("writes", params={"path": os.path.join(agent.folder, "rows.csv")})
            self.assertIsNone(data.exit.get("unclean"))
            attempt = agent.run("writes", params={"path": os.path.join(agent.folder, "json.py")})
            self.assertIn("where Python looks for modules", attempt.exit["unclean"])


@unittest.skipUnless(sys.platform == "linux", "what is asked of the kernel is Linux's")
class Together(Isolated):
    """Without folders of their own, as on the machine of the control plane."""

    APART = False

    def test_places_are_the_workers(self) -> None:
        found = self.run_task("looks").value()
        self.assertEqual(found["places"]["tmp"], tempfile.gettempdir())
        self.assertEqual(found["places"]["home"], os.environ["HOME"])
        self.run_task("leaves_traces")
        try:
            after = self.run_task("looks").value()
            expected = {name: value for name, value in self.NOTHING.items() if name != "files"}
            self.assertEqual({name: after[name] for name in expected}, expected)
        finally:
            for folder in (os.environ["HOME"], tempfile.gettempdir(), found["places"]["work"]):
                os.unlink(os.path.join(folder, "trace"))

    def test_only_processes_that_left_their_session_make_it_unclean(self) -> None:
        for kind in ("child", "nohup", "pool"):
            self.assertNotIn("unclean", self.leaves(kind).exit)
        for kind in ("session", "double fork"):
            self.assertIn("which had to be ended", self.leaves(kind).exit["unclean"])

    def test_without_a_domain_python_processes_are_closed_and_signals_and_programs_are_open(self) -> None:
        """What `together` leaves open; the other classes show that a domain closes it."""
        found = self.spy()
        own = {name: found.pop(name) for name in ("own", "ended own")}
        self.assertEqual(own, {"own": "True", "ended own": True})
        self.assertEqual({value for name, value in found.items() if name.endswith("signal")}, {"None"})
        sibling, program, server = (name.split()[0] for name in found if name.endswith("environ"))
        for pid in (sibling, server):
            for name in ("environ", "mem", "fd"):
                self.assertEqual(found[f"{pid} {name}"], "PermissionError", (name, found))
        self.assertEqual(found[f"{program} environ"], "b'S'")

    def test_people_may_edit_their_project(self) -> None:
        project = os.path.join(self.agent.folder, "of_the_project.py")
        self.assertNotIn("unclean", self.run_task("writes", path=project).exit)


class Pieces(unittest.TestCase):
    def test_nothing_is_reaped_that_was_not_looked_at(self) -> None:
        """One that ends between the look and the reaping would take what it has left behind with it."""
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with mock.patch("svc_runtime.run_server.server.peek_ended", return_value=None):
            Server(-1, -1).reap()
        self.assertEqual(os.waitpid(pid, os.WNOHANG), (pid, 0))

    def test_a_thread_that_ends_during_the_look_hides_no_child(self) -> None:
        child = subprocess.Popen(["sleep", "600"])
        try:
            with mock.patch("os.listdir", return_value=["999999999", str(os.getpid())]):
                self.assertIn(child.pid, children_of(os.getpid()))
        finally:
            child.kill()
            child.wait()

    def test_a_process_that_grew_is_unclean(self) -> None:
        leftovers = Leftovers({"max_growth": 1 << 20})
        self.assertIsNone(leftovers.of_server(is_idle=True))
        grown = b"x" * (1 << 26)
        self.assertIn("more than the 1 MiB", leftovers.of_server(is_idle=True) or "")
        leftovers.settle()
        self.assertIsNone(leftovers.of_server(is_idle=True))
        del grown

    def test_closed_folders_are_removed_by_their_owner(self) -> None:
        """As somebody who is not root, to whom modes mean nothing."""
        folder = tempfile.mkdtemp(prefix="svc-closed-")
        os.makedirs(os.path.join(folder, "top", "closed", "inner", "most"))
        closed = os.path.join(folder, "top", "closed")
        if os.getuid() == 0:
            for path, _, _ in os.walk(folder):
                os.chown(path, 65534, 65534)
        for path in (os.path.join(closed, "inner"), closed, os.path.join(folder, "top")):
            os.chmod(path, 0 if path == closed else stat.S_IRUSR)
        pid = os.fork()
        if pid == 0:
            try:
                if os.getuid() == 0:
                    os.setgroups([])
                    os.setgid(65534)
                    os.setuid(65534)
                remove_tree(os.path.join(folder, "top"))
                os._exit(0)
            except BaseException as error:
                os.write(2, repr(error).encode())
            finally:
                os._exit(1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        os.rmdir(folder)


if __name__ == "__main__":
    unittest.main()
