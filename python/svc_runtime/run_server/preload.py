"""What the fork server does before the first fork, so that no child has to.

A child shares the server's memory until it writes to a page, and a page's first write costs a fault (about 4 µs on a virtual
machine, nearly all of it the new page; asking for many at once gains nothing). Python writes while it merely runs: reference
counts, caches, code that the interpreter specialises. What helps, measured for one of many mapped tasks that do nothing, in a
burst of eight at once on two cores (Python 3.11), from 1,010 faults and 7.3 ms of CPU to 600 and 3.7:
- doing less in the child: operators of mapped tasks and signatures of functions are made ahead (`prepare`), context values
  when somebody asks (lazy_context.py);
- warming up: the server runs small tasks a few times, end to end, also after the file was loaded. Ten times are enough; with
  sixty the free memory is scattered over more pages, and a child has 40 faults more;
- loading less: a fork copies, and the child's end frees, what the server has mapped (`SOMETIMES`, late_modules.py).
Not worth their lines: moving code that runs onto pages of its own (3 % fewer faults), LD_BIND_NOW (none), filling the gaps
in the allocator's pools before the fork (1 %). `npm run bench -- runs --only tasks` prints what is left of it in the end.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import socket
import sys
from socket import SocketType

from ..record import current as recording
from ..record.templating import prepare_templates
from ..run import current, logs
from ..run.attempt import Attempt
from ..run.callables import remember
from ..run.channel import Channel
from ..run.credential_patterns import compile_patterns
from ..run.listeners import unheard
from ..run.stopping import Stopping
from .last_words import report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..record.dag import DAG

_MODULES = (
    "airflow.sdk",
    "svc_runtime.record.dag",
    "svc_runtime.decorators.task",
    "svc_runtime.run.environment",
    "svc_runtime.run.callables",
    "svc_runtime.run.deferral",
    "svc_runtime.run.trigger_run",
    "airflow.providers.standard.decorators.python",
)
# What only some versions use, by the module that shows it. Forking and ending a child cost the more the more the server has loaded: a
# server with Jinja and pendulum has 220 mappings instead of 138 and 16.5 MB instead of 11.5.
SOMETIMES = {
    "pendulum": ("pendulum", "zoneinfo"),
    "jinja2": ("jinja2", "jinja2.nativetypes", "jinja2.sandbox", "jinja2.ext"),
    "subprocess": ("svc_runtime.run.commands",),
    "asyncio": ("asyncio",),
    "svc_runtime.run.providers_manager": ("svc_runtime.run.providers_manager",),
}
# The context names that are moments or made of one.
_DATED = frozenset(
    "data_interval_end data_interval_start ds ds_nodash logical_date prev_data_interval_end_success "
    "prev_data_interval_start_success prev_end_date_success prev_start_date_success start_date task_instance_key_str ts "
    "ts_nodash ts_nodash_with_tz".split()
)
_ASKS_WHO_CALLS = "airflow.providers.amazon.aws.hooks.base_aws"
# The interpreter specialises a function after eight calls.
_WARM_UPS = 10


def preload(source: str) -> None:
    """What every version uses, and what the text of this one promises to. Attempts tell of the rest: see `missing`."""
    preload_common()
    if "{{" in source or "{%" in source:
        add("jinja2", "pendulum")
    if "bash" in source.lower():
        add("subprocess", "pendulum")
    if "async " in source or "deferrable" in source or "Async" in source:
        add("asyncio")


def preload_common() -> None:
    for name in _MODULES:
        importlib.import_module(name)


def preload_for_many() -> None:
    """What few attempts need: for one it would be in vain, of many each would have to do it for itself."""
    importlib.import_module("urllib.parse")
    compile_patterns()


def add(*names: str) -> None:
    for name in names:
        for module in SOMETIMES[name]:
            make_ready = getattr(importlib.import_module(module), "svc_make_ready", None)
            if make_ready is not None:
                make_ready()


def missing() -> list:
    return [name for name in SOMETIMES if name not in sys.modules]


def prepare(dag: DAG) -> None:
    """What every attempt of a task would do in the same way. What fails here fails in the attempt, where somebody hears of it."""
    for task in dag.tasks:
        with contextlib.suppress(Exception):
            _prepare(task)


def _prepare(task: Any) -> None:
    arguments = task.partial_kwargs if task.is_mapped else task.__dict__
    function = arguments.get("python_callable")
    if function is not None:
        wanted = remember(function)
        if wanted.takes_all or not _DATED.isdisjoint(wanted.by_name):
            add("pendulum")
    if "jinja2" in sys.modules:
        prepare_templates(task)
    if task.is_mapped:
        task.prepare_unmap()
    else:
        _ = task.log  # makes the logger


def find_modules_of_files() -> None:
    """The hooks of AWS ask who calls them (inspect.stack), and the first such question looks at the files of all modules."""
    if _ASKS_WHO_CALLS in sys.modules:
        import inspect

        inspect.getmodule(sys._getframe())


def warm_up_fork() -> None:
    """The standard library's own work after a fork, which only children would do otherwise, each with cold caches."""
    for module, name in (
        ("logging", "_after_at_fork_child_reinit_locks"),
        ("threading", "_after_fork"),
        ("random", "seed"),
    ):
        function = getattr(sys.modules.get(module), name, None)
        if function is not None:
            for _ in range(_WARM_UPS):
                function()


class WarmUp:
    """Tasks of no consequence, run in this process as if an agent had asked for them."""

    def __init__(self) -> None:
        self._dag = _warm_up_dag()

    def run(self, times: int | None = None, *, templates: bool = True) -> list:
        """Returns the states they ended in. Jinja's pages (some 370) are for attempts that need them to copy."""
        plain, mapped, dated = (self._dag.get_task(name) for name in ("plain", "mapped", "dated"))
        jobs = [_JOBS[plain.task_id], _JOBS[mapped.task_id]]
        if templates and "jinja2" in sys.modules and "pendulum" in sys.modules:
            jobs.append(_JOBS[dated.task_id])
        agent, own = socket.socketpair()
        agent.settimeout(5)
        channel = Channel(SocketType(fileno=own.detach()))
        logs.sink.attach(channel)
        try:
            with unheard():
                states = self._rehearse(times or _WARM_UPS, jobs, agent, channel)
        finally:
            logs.sink.attach(None)
            current.reset()
            agent.close()
            channel.socket.close()
        if times is None:
            mapped.prepare_unmap()  # for a spare that warms up once more: it costs as much as the rest
        return states

    def _rehearse(self, times: int, jobs: list, agent: socket.socket, channel: Channel) -> list:
        mapped, dated = (self._dag.get_task(name) for name in ("mapped", "dated"))
        states = []
        for _ in range(times):
            if not mapped.is_prepared:
                mapped.prepare_unmap()
            dated.op_args = ("{{ ds }}",)
            for job in jobs:
                agent.sendall(job)
                outcome = Attempt(channel.receive(), self._dag, channel, Stopping(channel)).run()
                report(outcome, channel)
                agent.recv(1 << 16)
                states.append(outcome.state)
                current.reset()
        return states


def _warm_up_dag() -> DAG:
    import airflow  # noqa: F401  installs the import paths
    from airflow.providers.standard.decorators.python import python_task

    from ..record.dag import DAG

    # Without annotations: one of what a function returns is looked at, and loads more.
    def plain(text):
        print(text)  # noqa: T201  a task's output is warmed up too
        return {"text": text}

    def mapped(item): ...

    def dated(text, ds=None): ...

    with DAG("warm_up", schedule=None) as dag:
        python_task(plain)("text")
        python_task(mapped).expand(item=[1, 2])
        python_task(dated)("{{ ds }}")
    recording.reset()
    for task in dag.tasks:
        remember((task.partial_kwargs if task.is_mapped else vars(task))["python_callable"])
    return dag


def _job(task_id: str, map_index: int) -> bytes:
    moment = "2024-01-01T00:00:00Z"
    run = {"run_id": "r", "run_type": "manual", "logical_date": moment, "run_after": moment, "conf": {}}
    place = {"dag_id": "warm_up", "task_id": task_id, "map_index": map_index, "try_number": 1, "start_date": moment}
    nothing: dict = {"params": {}, "env": {}, "masks": [], "xcoms": [], "prefetched": []}
    return json.dumps({"type": "job", "kind": "task", **place, "run": run, **nothing}).encode() + b"\n"


_JOBS = {"plain": _job("plain", -1), "mapped": _job("mapped", 0), "dated": _job("dated", -1)}
