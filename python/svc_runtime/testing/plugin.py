"""The plugin of pytest. Everything else is imported by the first test that uses it, because every pytest loads this file."""

from __future__ import annotations

import sys

import pytest

from . import recorder


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("svc").addoption(
        "--update-dag-snapshots", action="store_true", help="write the snapshots of DAGs instead of comparing them"
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    recorder.begin(str(item.path), updates=item.config.getoption("update_dag_snapshots"))


def pytest_runtest_logfinish() -> None:
    recorder.end()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    outcome = yield
    report = outcome.get_result()
    if not report.failed or report.when != "call":
        return
    for run in recorder.runs:
        for task in run.failed_tasks:
            place = f" at {task.line}" if task.line is not None else ""
            told = [f"> {task.line.text}"] if task.line is not None else []
            report.sections.append(
                (
                    f"task {task.name} of {run.dag_id} failed{place}",
                    "\n".join([*told, task.log or task.error_text or ""]),
                )
            )


def pytest_unconfigure() -> None:
    """No process is left. Where no test ran a DAG, the engine was not even imported."""
    engines = sys.modules.get("svc_runtime.dag_test.engine")
    if engines is not None:
        engines.end_own()


@pytest.fixture(name="run_dag")
def _run_dag():
    """Runs a DAG once: docs/testing.md."""
    import airflow  # noqa: F401  installs the import paths

    from .run import run_dag

    return run_dag


@pytest.fixture(name="run_task")
def _run_task():
    """Runs one task of a DAG, or an operator without a DAG."""
    import airflow  # noqa: F401

    from .run import run_task

    return run_task


@pytest.fixture(name="dag_snapshot")
def _dag_snapshot():
    """Compares a DAG with its snapshot."""
    import airflow  # noqa: F401

    from .snapshots import assert_dag_matches_snapshot

    return assert_dag_matches_snapshot


@pytest.fixture(name="clock")
def _clock():
    """A clock that moves the time of this test."""
    from .clock import Clock, active

    active.clock = clock = Clock()
    yield clock
    active.clock = None
    clock.close()
