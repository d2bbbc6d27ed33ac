"""The control plane as a task reaches it: through its own process, with the rights of the task and no others."""

from __future__ import annotations

import json
import os
import socket

from .errors import CommandError

SOCKET = "SVC_TASK_SOCKET"
KEY = "SVC_TASK_SOCKET_KEY"


def is_task() -> bool:
    return SOCKET in os.environ


class Refused(Exception):
    """`code` is the agent's: not_found, denied, conflict, …"""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


def ask(method: str, **params):
    """Raises Refused for what the control plane refuses."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(os.environ[SOCKET])
            question = {"key": os.environ.get(KEY, ""), "method": method, "params": params}
            connection.sendall(json.dumps(question).encode() + b"\n")
            with connection.makefile("rb") as answers:
                line = answers.readline()
        except OSError as error:
            raise CommandError(f"the task that started this program cannot be reached: {error}") from None
    if not line:
        raise CommandError("the task that started this program has ended")
    answer = json.loads(line)
    if not answer["ok"]:
        raise Refused(answer["error"], answer["code"])
    return answer["value"]
