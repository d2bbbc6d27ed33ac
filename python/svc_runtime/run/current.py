"""The context of the task that is running in this process, if any."""

from __future__ import annotations

import contextlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_stack: list = []
# Set by the runner: answers for variables and connections. None while a DAG file is compiled.
secrets_source: Any = None
# Where users reach the control plane; empty when nobody said.
base_url = ""
# Plugins that did not import, in words; told in the log of each task that misses them.
plugin_problems: list[str] = []
# The policies of the version that this process runs (plugins/local_settings.py); None where it has none.
local_settings: Any = None
# The run that listeners of this process hear of.
heard_run: Any = None


def push(context) -> None:
    _stack.append(context)


def pop() -> None:
    _stack.pop()


def reset() -> None:
    """As if no task had run in this process."""
    global secrets_source
    _stack.clear()
    secrets_source = None


@contextlib.contextmanager
def restored():
    """Afterwards everything is as before: for tasks that run in a process that goes on."""
    global secrets_source, base_url
    before = (list(_stack), secrets_source, base_url)
    try:
        yield
    finally:
        _stack[:], secrets_source, base_url = before


def get_current_context():
    if not _stack:
        raise RuntimeError("Current context was requested but no context was found! Are you running within a task?")
    return _stack[-1]


def running_context() -> Any:
    """None where there is none."""
    return _stack[-1] if _stack else None


def running_task() -> Any:
    """None where there is none."""
    return _stack[-1].get("task") if _stack else None


def running() -> bool:
    return bool(_stack) or secrets_source is not None


def require_source(what: str, instead: str):
    """Values live in the control plane: reachable from a running task, not from a file being compiled."""
    if secrets_source is None:
        from ..exceptions import RecordingError
        from ..record import current as record_current

        record_current.asked_in_vain = True
        raise RecordingError(f"{what} is read while the file is compiled", instead)
    return secrets_source


class ParsingContext:
    """Which DAG and task this process was started for; both None while compiling."""

    def __init__(self, dag_id: str | None = None, task_id: str | None = None) -> None:
        self.dag_id = dag_id
        self.task_id = task_id
        # More attempts will be forked from this process than one: what they have in common is worth preparing.
        self.is_shared = False


parsing_context = ParsingContext()
# Called when the process that attempts are forked from ends: it goes without Python's own farewell.
at_server_end: list[Callable[[], None]] = []


def get_parsing_context() -> ParsingContext:
    return parsing_context
