"""What the fork server does before the first fork, so that no child has to.

A child shares the server's memory until it writes to a page, and a page's first write costs a fault (about 1 µs on a quiet
machine, several on a busy one). Python writes while it merely runs: reference counts, caches, code that the interpreter
specialises. So the server not only loads modules but also rehearses: it runs a small task a few times, end to end.
Measured for a task without templates, from the fork to its end: 1,055 faults before, 945 with rehearsals, of which a spare
child (see run_server.py) has some 700 behind it when its attempt comes.
"""

from __future__ import annotations

import importlib
import socket

from ..record import current as recording
from . import current, logs
from .attempt import Attempt
from .channel import Channel
from .child import report
from .stopping import Stopping

_MODULES = (
    "airflow.sdk",
    "svc_runtime.run.environment",
    "svc_runtime.run.commands",
    "svc_runtime.run.callables",
    "svc_runtime.run.deferral",
    "svc_runtime.run.trigger_run",
    "airflow.providers.standard.decorators.python",
    "jinja2",
    "jinja2.nativetypes",
    "jinja2.sandbox",
    "jinja2.ext",
    "pendulum",
    "zoneinfo",
)
# The interpreter specialises a function after eight calls.
_REHEARSALS = 10


def preload(source: str) -> None:
    for name in _MODULES:
        importlib.import_module(name)
    # About 30 ms and 4 MB, so only for files that will use it.
    if "async " in source or "deferrable" in source or "Async" in source:
        importlib.import_module("asyncio")


class Rehearsal:
    """A task of no consequence, run in this process as if an agent had asked for it."""

    def __init__(self) -> None:
        self._dag = _rehearsal_dag()

    def run(self, times: int = _REHEARSALS, *, templates: bool = True) -> list:
        """Returns the states it ended in. Jinja's pages (some 370) are for attempts that need them to copy."""
        task = self._dag.get_task("body")
        agent, own = socket.socketpair()
        agent.settimeout(5)
        channel = Channel(own)
        logs.sink.attach(channel)
        states = []
        try:
            for _ in range(times):
                task.op_args = ("{{ ds }}" if templates else "plain",)
                agent.sendall(_JOB)
                outcome = Attempt(channel.receive(), self._dag, channel, Stopping(channel)).run()
                report(outcome, channel)
                agent.recv(1 << 20)
                states.append(outcome.state)
                current.reset()
        finally:
            logs.sink.attach(None)
            current.reset()
            agent.close()
            own.close()
        return states


def _rehearsal_dag():
    import airflow  # noqa: F401  installs the import paths
    from airflow.providers.standard.decorators.python import python_task

    from ..record.dag import DAG

    def body(text, ds=None):
        print(text)
        return {"text": text}

    with DAG("rehearsal", schedule=None) as dag:
        python_task(body)("{{ ds }}")
    recording.reset()
    return dag


_JOB = (
    b'{"type":"job","kind":"task","dag_id":"rehearsal","task_id":"body","map_index":-1,"try_number":1,"run":{"run_id":"r",'
    b'"run_type":"manual","logical_date":"2024-01-01T00:00:00Z","run_after":"2024-01-01T00:00:00Z","conf":{}},"params":{},'
    b'"env":{},"masks":[],"xcoms":[],"prefetched":[]}\n'
)
