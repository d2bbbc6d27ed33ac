"""The agent's side of the run protocol, for tests: starts a real fork server and talks to real children."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from typing import Any

from . import PYTHON

# It ends only a test that hangs: on a busy machine each step takes many times as long as on an idle one.
PATIENCE = 240.0
NO_ANSWER = object()


class Refused(Exception):
    """Raised by an answer to make it `ok: false`."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class Attempt:
    """What one attempt said, by the way it said it."""

    def __init__(self, name: str, job: dict | None, answers: dict) -> None:
        self.name = name
        self.key = f"key of {name}"
        self.job = job
        self.answers = answers
        self.pid: int | None = None
        self.records: list = []
        self.requests: list = []
        # None until they came: a test that looks too early fails by that.
        self.result: Any = None
        self.exit: Any = None
        self.streams = {"stdout": b"", "stderr": b""}
        self.open = 0
        self.control: Any = None
        # The spare it was given to.
        self.took: str | None = None
        self.log_frames = 0
        self.connections: list[str] = []
        # What had come by the streams when the exit was said.
        self.streams_at_exit: Any = None

    @property
    def over(self) -> bool:
        return self.exit is not None and self.open == 0

    def events(self, logger: str | None = None) -> list:
        return [record["event"] for record in self.records if logger in (None, record["logger"])]

    def text(self) -> str:
        return "\n".join(self.events())

    def value(self, key: str = "return_value"):
        return {entry["key"]: entry["value"] for entry in self.result["xcoms"]}.get(key)


class Spare:
    """A child that the server keeps ready: it has said hello, or will."""

    def __init__(self, key: str) -> None:
        self.key = key
        # What it said, its connection and what belongs to that; None until it has.
        self.hello: Any = None


class Agent:
    def __init__(
        self,
        text: str,
        *,
        dag_id: str = "d",
        files: dict | None = None,
        env: dict | None = None,
        settings: dict | None = None,
        version_files: dict | None = None,
        arguments: tuple = (),
        load: dict | None = None,
        is_privileged: bool = True,
    ) -> None:
        self.folder = tempfile.mkdtemp(prefix="svc-run-")
        for name, content in (files or {}).items():
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(textwrap.dedent(content))
        self.socket_path = os.path.join(self.folder, "agent.sock")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.socket_path)
        self.listener.listen(256)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ, self._accept)
        self.attempts: dict[str, Attempt] = {}
        self.events: list = []
        self.last = 0
        # A list while streams are accepted and not read.
        self.unread_streams: list | None = None
        self.refuses_streams = False
        self.spare: Spare | None = None
        self.server = subprocess.Popen(
            [sys.executable, "-m", "svc_runtime.run_server", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=PYTHON,
            env={**os.environ, **(settings or {})},
            preexec_fn=None if is_privileged else drop_privileges,  # noqa: PLW1509  tests have one thread
        )
        self.said = b""
        self.stderr = b""
        assert self.server.stdin is not None and self.server.stdout is not None and self.server.stderr is not None
        self.stdin = self.server.stdin
        os.set_blocking(self.server.stdout.fileno(), False)
        os.set_blocking(self.server.stderr.fileno(), False)
        self.selector.register(self.server.stdout, selectors.EVENT_READ, self._hear)
        self.selector.register(self.server.stderr, selectors.EVENT_READ, self._hear_stderr)
        self.tell(
            {
                "op": "load",
                "socket": self.socket_path,
                "dags_folder": self.folder,
                "dag_id": dag_id,
                "fileloc": os.path.join(self.folder, "dag.py"),
                "source": {
                    "path": "dag.py",
                    "module": "svc_dag_dag",
                    "text": textwrap.dedent(text),
                    "files": version_files or {},
                },
                "env": env or {},
                **(load or {}),
            }
        )

    def __enter__(self) -> Agent:
        self.pump(lambda: self.events)
        self.loaded = self.events[0]
        return self

    @classmethod
    def ready(cls, text: str, **options) -> Agent:
        agent = cls(text, **options).__enter__()
        if agent.loaded["event"] != "ready":
            agent.close()
            raise AssertionError(agent.loaded["traceback"] or agent.loaded["error"])
        return agent

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        if not self.stdin.closed:
            self.stdin.close()
        try:
            self.server.wait(PATIENCE)
        finally:
            if self.server.poll() is None:
                self.server.kill()
                self.server.wait()
            files: list[Any] = [key.fileobj for key in self.selector.get_map().values()]
            for file in files:
                file.close()
            self.selector.close()
            self.listener.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    # -- the server

    def tell(self, command: dict) -> None:
        self.stdin.write(json.dumps(command).encode() + b"\n")
        self.stdin.flush()

    def _hear(self, stream) -> None:
        chunk = os.read(stream.fileno(), 1 << 16)
        if not chunk:
            self.selector.unregister(stream)
            return
        *lines, self.said = (self.said + chunk).split(b"\n")
        for line in lines:
            event = json.loads(line)
            self.events.append(event)
            if event["event"] == "spare":
                self.spare = Spare(event["key"])
            elif event["event"] == "forked":
                attempt = self.attempts[event["attempt"]]
                attempt.pid = event["pid"]
                if not event["taken"]:
                    attempt.took = None
            elif event["event"] == "exit":
                attempt = self.attempts[event["attempt"]]
                attempt.exit = event
                attempt.streams_at_exit = dict(attempt.streams)

    def _hear_stderr(self, stream) -> None:
        chunk = os.read(stream.fileno(), 1 << 16)
        self.stderr += chunk
        if not chunk:
            self.selector.unregister(stream)

    def pump(self, until, patience: float = PATIENCE) -> None:
        """Serves everybody until the condition holds."""
        deadline = time.monotonic() + patience
        while not until():
            left = deadline - time.monotonic()
            if left <= 0:
                raise AssertionError(f"nothing happened within {patience} s; server said {self.stderr!r}")
            for key, _ in self.selector.select(min(left, 1.0)):
                key.data(key.fileobj)

    # -- the children

    def _accept(self, listener) -> None:
        connection, _ = listener.accept()
        state = {"buffer": b"", "attempt": None, "stream": None}
        self.selector.register(connection, selectors.EVENT_READ, lambda _: self._read(connection, state))

    def _read(self, connection, state) -> None:
        try:
            chunk = connection.recv(1 << 16)
        except ConnectionResetError:
            chunk = b""
        attempt = state["attempt"]
        if not chunk:
            self.selector.unregister(connection)
            connection.close()
            if attempt is not None:
                attempt.open -= 1
            elif self.spare is not None and self.spare.hello is not None and self.spare.hello[1] is connection:
                self.spare = None  # it has died
            return
        if state["stream"]:
            attempt.streams[state["stream"]] += chunk
            return
        state["buffer"] += chunk
        while not state["stream"] and b"\n" in state["buffer"]:
            line, _, state["buffer"] = state["buffer"].partition(b"\n")
            self._message(json.loads(line), connection, state)

    def _message(self, message: dict, connection, state) -> None:
        if message["type"] in ("hello", "stream"):
            if message["type"] == "stream" and self.refuses_streams:
                self.selector.unregister(connection)
                connection.close()
                state["stream"] = "refused"
                return
            if message["attempt"] == "":
                if self.spare is not None and message["key"] == self.spare.key:
                    self.spare.hello = (message, connection, state)
                else:  # not wanted any more
                    self.selector.unregister(connection)
                    connection.close()
                return
            attempt = state["attempt"] = self.attempts[message["attempt"]]
            assert message["key"] == attempt.key, "a connection without its attempt's key"
            attempt.open += 1
            attempt.connections.append(message.get("name", "control"))
            if message["type"] == "stream":
                state["stream"] = message["name"]
                attempt.streams[message["name"]] += state["buffer"]
                if self.unread_streams is not None:
                    self.unread_streams.append((connection, self.selector.unregister(connection).data))
            else:
                self._greet(attempt, message, connection)
            return
        attempt = state["attempt"]
        if message["type"] == "log":
            attempt.log_frames += 1
            attempt.records += message["records"]
        elif message["type"] == "result":
            assert attempt.result is None, "two results"
            attempt.result = message
            if "late" in message:
                self.tell({"op": "load_late", "names": message["late"]})
        elif message["type"] == "request":
            attempt.requests.append(message)
            self._answer(attempt, message)

    def _greet(self, attempt: Attempt, hello: dict, connection) -> None:
        attempt.control = connection
        assert hello["pid"] > 0
        if attempt.job is not None:
            self.send(attempt, attempt.job)

    # -- the spare

    def _take_spare(self) -> Spare | None:
        spare = self.spare
        if spare is None or spare.hello is None:
            return None
        self.spare = None
        return spare

    def _answer(self, attempt: Attempt, message: dict) -> None:
        reply = {"type": "reply", "id": message["id"], "ok": True, "value": None}
        answer = attempt.answers.get(message["method"])
        try:
            reply["value"] = answer(**message["params"]) if callable(answer) else answer
            reply["masks"] = attempt.answers.get("masks", [])
        except Refused as refusal:
            reply = {"type": "reply", "id": message["id"], "ok": False, "error": str(refusal), "code": refusal.code}
        if reply.get("value") is not NO_ANSWER:
            self.send(attempt, reply)

    def read_streams(self) -> None:
        for connection, read in self.unread_streams or []:
            self.selector.register(connection, selectors.EVENT_READ, read)
        self.unread_streams = None

    def send(self, attempt: Attempt, message: dict) -> None:
        attempt.control.setblocking(True)
        with contextlib.suppress(BrokenPipeError):  # a spare that has died: another comes, or its exit is told
            attempt.control.sendall(json.dumps(message).encode() + b"\n")

    # -- for tests

    def start(self, task_id: str | None, *, answers: dict | None = None, hold: bool = False, **job) -> Attempt:
        self.last += 1
        attempt = Attempt(f"attempt-{self.last}", None if hold else make_job(task_id, **job), answers or {})
        self.attempts[attempt.name] = attempt
        spare = self._take_spare()
        order = {"op": "fork", "attempt": attempt.name, "key": attempt.key}
        if spare is None:
            self.tell(order)
            return attempt
        attempt.took = spare.key
        self.tell({**order, "takes": spare.key})  # first: whoever has the job has been ordered
        hello, connection, state = spare.hello
        state["attempt"] = attempt
        attempt.open += 1
        attempt.connections.append("control")
        self._greet(attempt, hello, connection)
        return attempt

    def run(self, task_id: str | None, **options) -> Attempt:
        attempt = self.start(task_id, **options)
        self.pump(lambda: attempt.over)
        return attempt

    def kill(self, attempt: Attempt, number: int) -> None:
        self.tell({"op": "kill", "attempt": attempt.name, "signal": number})


def drop_privileges() -> None:
    """Root without capabilities, from the next program on."""
    pr_capbset_drop, last = 24, 40
    for number in range(last + 1):
        ctypes.CDLL(None).prctl(pr_capbset_drop, number, 0, 0, 0)


def make_job(task_id: str | None, *, values: dict | None = None, run: dict | None = None, **more) -> dict:
    """`values`: {task_id: value} or {task_id: [values by map index]} under "mapped:<task_id>"."""
    xcoms = []
    for name, value in (values or {}).items():
        mapped = name.startswith("mapped:")
        source = name.removeprefix("mapped:")
        for index, item in enumerate(value) if mapped else [(-1, value)]:
            xcoms.append({"task_id": source, "map_index": index, "key": "return_value", "value": item})
    return {
        "type": "job",
        "kind": "task",
        "attempt_id": "018f0000-0000-7000-8000-000000000001",
        "dag_id": "d",
        "python_dag_id": "d",
        "task_id": task_id,
        "map_index": -1,
        "try_number": 1,
        "max_tries": 0,
        "run": {
            "run_id": "manual__1",
            "run_type": "manual",
            "logical_date": "2024-05-01T10:20:30Z",
            "data_interval_start": "2024-05-01T00:00:00Z",
            "data_interval_end": "2024-05-02T00:00:00Z",
            "run_after": "2024-05-02T00:00:00Z",
            "start_date": "2024-05-02T00:00:01.5Z",
            "queued_at": None,
            "conf": {},
            "triggering_user_name": "ada",
            **(run or {}),
        },
        "previous": {},
        "first_poke_at": None,
        "params": {},
        "env": {},
        "masks": [],
        "xcoms": xcoms,
        "prefetched": sorted({entry["task_id"] for entry in xcoms}),
        "expanded": None,
        "mapped_over": False,
        "retry_on_failure": False,
        "base_url": "http://localhost:8080",
        "ti_id": "018f0000-0000-7000-8000-000000000002",
        "spec": {},
        **more,
    }
