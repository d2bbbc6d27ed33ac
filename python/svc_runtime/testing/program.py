"""`python -m svc_runtime.testing.program`: a run for `svc test` and `svc replay`. It reads its order from descriptor 3 and answers there.

order ─▶ load the file ─▶ run ─▶ result, or what is wrong
"""

from __future__ import annotations

import json
import os
import sys
import threading

import airflow  # noqa: F401  installs the import paths

from .. import bundle_path
from ..dag_test.dag_bag import DagBag
from ..dag_test.output import printed_logs
from ..dag_test.secret_files import read_connections, read_variables
from ..exceptions import AirflowException
from ..record import templating
from ..run.channel import RequestFailed
from ..run.moments import moment
from ..run.xcom_values import decode
from .answers import Answer
from .clock import SkippingClock, WaitingClock
from .debuggers import debugger_of
from .given import InstanceValues
from .recorded_try import RecordedTry
from .run import run_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..record.dag import DAG
    from .results import RunResult, TaskResult

_CHANNEL = 3


class _Problem(Exception):
    """What the person who asked has to change."""


class _NotLoaded(Exception):
    """The DAG file has raised this when it was loaded."""

    def __init__(self, told: dict[str, Any]) -> None:
        super().__init__(told["message"])
        self.told = told


def main() -> None:
    channel = os.fdopen(_CHANNEL, "r+b", buffering=0)
    order = json.loads(_line(channel))
    answer: dict[str, Any]
    try:
        answer = {"result": _shown(_run(order, channel), order)}
    except _NotLoaded as error:
        answer = {"not_loaded": error.told, "problem": error.told["traceback"].rstrip() or str(error)}
    except (_Problem, AirflowException, ValueError, OSError) as error:
        answer = {"problem": str(error)}
    channel.write(json.dumps(answer).encode() + b"\n")
    channel.close()


def _line(channel) -> bytes:
    text = b""
    while not text.endswith(b"\n"):
        piece = channel.read(1 << 16)
        if not piece:
            raise EOFError("the order is not complete")
        text += piece
    return text


def _asking(channel) -> Callable[[str, str], str | None]:
    lock = threading.Lock()

    def ask(kind: str, name: str) -> str | None:
        with lock:
            channel.write(json.dumps({"asks": {"kind": kind, "name": name}}).encode() + b"\n")
            answer = json.loads(_line(channel))
        if "problem" in answer:
            raise RequestFailed(answer["problem"], "denied")
        return answer["text"]

    return ask


def _run(order: dict[str, Any], channel) -> RunResult:
    debug = debugger_of(order["debugger"])
    moment("2026-01-01T00:00:00Z")  # loads what the result needs: a task may use up the memory of this process
    recorded = None if order["recorded"] is None else RecordedTry.of(order["recorded"])
    templating.version_files.update(order["files"])
    task_id = order["task_id"]
    clock = WaitingClock() if recorded is None or recorded.timed_out is None else SkippingClock()
    with clock.of_body():
        dag = _load(order)
    with printed_logs(sys.stdout), clock.of_body():
        return run_once(
            dag,
            clock=clock,
            conf=order["conf"],
            connections=read_connections(order["connections"]),
            variables=read_variables(order["variables"]),
            xcoms={(one["task_id"], one["key"]): _value(one) for one in order["xcoms"]},
            at=order["at"],
            answers={task: Answer(options) for task, options in order["answers"].items()},
            only=None if task_id is None else (task_id, order["map_index"]),
            debug=debug,
            recorded=recorded,
            ask=_asking(channel) if order["asks"] else None,
        )


def _value(given: dict[str, Any]):
    instances = given["instances"]
    if instances is None:
        return decode(given["value"])
    values = {int(index): decode(value) for index, value in instances["values"].items()}
    return InstanceValues(values, instances["count"])


def _load(order: dict[str, Any]) -> DAG:
    path, dag_id = order["path"], order["dag_id"]
    bundle_path.enter(path=path, root=order["root"], bundle=order["bundle"])
    bag = DagBag(path, bundle_path=order["root"], safe_mode=False)
    for failure in bag.svc_failures.values():
        raise _NotLoaded(failure)
    found = bag.dags.get(dag_id) or (next(iter(bag.dags.values())) if len(bag.dags) == 1 else None)
    if found is None:
        raise _Problem(f"{path} has no DAG {dag_id}")
    found.dag_id = dag_id  # svc.yaml may have given it another id
    return found


def _shown(run: RunResult, order: dict[str, Any]) -> dict:
    task_id, map_index = order["task_id"], order["map_index"]
    tasks = [task for task in run.svc_instances if task_id in (None, task.task_id)]
    tasks = [task for task in tasks if map_index in (None, task.map_index)]
    if not tasks:
        count = sum(task.task_id == task_id for task in run.svc_instances)
        raise _Problem(f"{task_id} has {count} instances and none with map index {map_index}")
    return {
        "dag_id": run.dag_id,
        "run_id": run.run_id,
        "logical_date": None if run.logical_date is None else run.logical_date.isoformat(),
        "state": str(run.state) if task_id is None else _state_of(tasks),
        "seconds": run.duration if task_id is None else sum(task.duration or 0 for task in tasks),
        "tasks": [_task(task) for task in tasks],
    }


def _state_of(tasks: list[TaskResult]) -> str:
    """Of the only task: its own, or that of its first instance that did not succeed."""
    states = [str(task.state) for task in tasks]
    return next((state for state in states if state != "success"), "success")


def _task(task: TaskResult) -> dict:
    return {
        "task_id": task.task_id,
        "map_index": task.map_index,
        "state": None if task.state is None else str(task.state),
        "tries": task.tries,
        "seconds": task.duration,
        "value": _plain(task.xcom),
        "xcoms": {key: _plain(value) for key, value in task.xcoms.items()},
        "error": task.error_text,
        "line": None if task.line is None else str(task.line),
        "rendered": task.rendered,
    }


def _plain(value):
    try:
        return json.loads(json.dumps(value, default=repr))
    except (TypeError, ValueError):
        return repr(value)


if __name__ == "__main__":
    main()
