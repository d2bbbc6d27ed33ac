"""Answers the program `airflow` while a task waits for the programs that it started.

They connect to a socket in a folder that only this user can enter, and name the key that is in their environment. What they
may ask for is a part of what the task itself may ask for, and the control plane checks it as it checks the task.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import socket
import sys
import tempfile
import threading

from .channel import AgentGone, RequestFailed

METHODS = frozenset(
    {
        "delete_variable",
        "external_states",
        "get_connection",
        "get_dag_run_state",
        "get_variable",
        "set_variable",
        "trigger_dag_run",
    }
)
FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin")
_LONGEST_PATH = 100  # of a unix socket: 108 on Linux, 104 elsewhere
_LONGEST_QUESTION = 1 << 20
_PATIENCE_SECONDS = 10
# What bash takes when an author gives it an environment without one.
_PATH_OF_BASH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class CommandRelay:
    def __init__(self, channel) -> None:
        self._channel = channel
        self._key = secrets.token_urlsafe(16)
        self._folder = tempfile.mkdtemp(prefix="svc-")
        if len(self._folder) > _LONGEST_PATH - 6:
            os.rmdir(self._folder)
            self._folder = tempfile.mkdtemp(prefix="svc-", dir="/tmp")
        self._path = os.path.join(self._folder, "ask")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self._path)
        self._listener.listen(16)
        self._thread = threading.Thread(target=self._serve, name="svc-airflow-command", daemon=True)

    def environment(self, env: dict) -> dict:
        """What a program needs to find `airflow`, and `airflow` to find this socket."""
        path = env.get("PATH") or _PATH_OF_BASH
        return {
            **env,
            "PATH": f"{FOLDER}{os.pathsep}{path}",
            "SVC_TASK_PYTHON": sys.executable,
            "SVC_TASK_SOCKET": self._path,
            "SVC_TASK_SOCKET_KEY": self._key,
        }

    def start(self) -> None:
        """After the program was started: a process with several threads should not fork."""
        self._thread.start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError, ValueError, AgentGone):
                connection.settimeout(_PATIENCE_SECONDS)
                with connection.makefile("rb") as questions:
                    question = json.loads(questions.readline(_LONGEST_QUESTION))
                connection.sendall(json.dumps(self._answer(question)).encode() + b"\n")

    def _answer(self, question) -> dict:
        method = question.get("method")
        if not secrets.compare_digest(str(question.get("key")), self._key) or method not in METHODS:
            return {"ok": False, "error": "the task does not answer this", "code": "denied"}
        try:
            return {"ok": True, "value": self._channel.request(method, **question.get("params") or {})}
        except RequestFailed as failure:
            return {"ok": False, "error": str(failure), "code": failure.code}


def open_relay() -> CommandRelay | None:
    """None outside of a task, and in a process that a task forked: it shares the connection of the task."""
    from . import current

    context = current.running_context()
    channel = getattr(context, "svc_channel", None)
    return CommandRelay(channel) if channel is not None and channel.is_ours else None
