"""Tests of DAGs. With pytest, `run_dag`, `run_task`, `clock` and `dag_snapshot` are fixtures as well."""

from __future__ import annotations

import airflow  # noqa: F401  installs the import paths
from svc_runtime.testing.answers import NO_ANSWER, Answer
from svc_runtime.testing.clock import Clock
from svc_runtime.testing.results import MappedTask, RunResult, TaskResult
from svc_runtime.testing.run import run_dag, run_task
from svc_runtime.testing.schedule import ScheduledRun, scheduled_runs
from svc_runtime.testing.snapshots import assert_dag_matches_snapshot

__all__ = [
    "NO_ANSWER",
    "Answer",
    "Clock",
    "MappedTask",
    "RunResult",
    "ScheduledRun",
    "TaskResult",
    "assert_dag_matches_snapshot",
    "run_dag",
    "run_task",
    "scheduled_runs",
]
