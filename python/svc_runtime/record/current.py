"""What is open while a DAG file runs: the `with` stacks, the DAGs to collect, the limits.

One compile is one process (a fork), so module-level state is scoped to one file by construction.
"""

from __future__ import annotations

import os
import sys
from types import FrameType

from ..exceptions import RecordingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

DEFAULT_MAX_TASKS = 10_000

dag_stack: list = []
group_stack: list = []
setup_stack: list = []
# DAGs whose `with` block ended or whose @dag function was called; module globals are added by the compiler.
collected_dags: list = []
# By DAG and task: the settings the file itself gives, which `defaults` of svc.yaml only fill in for.
stated_settings: dict[str, dict[str, list[str]]] = {}
# Notes for the author that do not stop the compile.
warnings: list[str] = []
# What works differently here than on Airflow and is not in the spec: rows of packages/compiler/differences/table.ts.
differences: list[dict[str, str]] = []
# By name: texts that tasks of the version need and that are in no file, such as the graph of a dbt project.
version_files: dict[str, str] = {}
# By content: what earlier compiles of this file found at some cost, and what this one has used of it or found itself.
kept: dict[str, dict] = {}
used: dict[str, dict] = {}
# Called before a program is started that may take long; None where nobody counts the seconds.
ask_for_time: Callable[[], None] | None = None
# Notes what the file depends on, where its answer may be given again (compile/reads.py).
reads: Any = None
# Variables and connections for the file that is being compiled (compile/asked_values.py); None where it is compiled without
# a control plane.
values: Any = None
# A process of ours loads a file: it neither runs tasks for the author nor starts programs for them.
is_compiling = False
# The file has asked for a variable or a connection that nothing answers here.
asked_in_vain = False


class _Limits:
    max_tasks = DEFAULT_MAX_TASKS


limits = _Limits()


def current_dag():
    return dag_stack[-1] if dag_stack else None


def current_group(dag):
    """The innermost open group, if it belongs to `dag`; else the DAG's root group."""
    for group in reversed(group_stack):
        if group.dag is dag:
            return group
    return dag.task_group if dag is not None else None


def collect(dag) -> None:
    if dag.auto_register and not any(known is dag for known in collected_dags):
        collected_dags.append(dag)


def check_task_budget(dag) -> None:
    """Stops a runaway loop of task definitions while it still fits in memory."""
    if len(dag.task_dict) >= limits.max_tasks:
        raise RecordingError(
            f"DAG '{dag.dag_id}' has more than {limits.max_tasks} tasks",
            "Split it into several DAGs, or create the work items at run time with .expand()",
        )


def warn(message: str) -> None:
    if message not in warnings:
        warnings.append(message)


def differ(row: str, what: str, place: str = "") -> None:
    """`what`: the argument, setting or function; `place`: a file and its line."""
    noted = {"row": row, "what": what, "place": place}
    if noted not in differences:
        differences.append(noted)


def differ_here(row: str, what: str) -> None:
    """With the author's line that is being executed."""
    differ(row, what, _author_place())


def warn_here(message: str) -> None:
    """With the author's line that is being executed."""
    place = _author_place()
    warn(f"{place}: {message}" if place else message)


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OWN = (_PACKAGE, os.path.join(os.path.dirname(_PACKAGE), "airflow"), "<")


def _author_place() -> str:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        path = frame.f_code.co_filename
        if not path.startswith(_OWN):
            folder = os.environ.get("SVC_DAGS_FOLDER")
            return f"{os.path.relpath(path, folder) if folder else path}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def reset() -> None:
    """Forget everything about the previous file (only needed when no fork separates two files)."""
    global asked_in_vain
    asked_in_vain = False
    dag_stack.clear()
    group_stack.clear()
    setup_stack.clear()
    collected_dags.clear()
    stated_settings.clear()
    warnings.clear()
    differences.clear()
    version_files.clear()
    kept.clear()
    used.clear()
    limits.max_tasks = DEFAULT_MAX_TASKS
