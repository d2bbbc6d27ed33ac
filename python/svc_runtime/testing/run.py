"""`run_dag` and `run_task`."""

from __future__ import annotations

import contextlib
import copy
import datetime

from ..record.dag import DAG
from ..record.xcomarg import XComArg
from . import recorder
from .clock import Clock, active
from .given import (
    Given,
    check_tasks,
    connections_of,
    durations_of,
    events_of,
    moment_in,
    run_of,
    values_of,
    variables_of,
)
from .recorded_try import RecordedTry
from .results import RunResult
from .schedule import ScheduledRun
from .virtual_run import VirtualRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from .debuggers import Debug


def run_dag(
    dag: DAG,
    *,
    conf: Mapping[str, Any] | None = None,
    connections: Mapping[str, Any] | None = None,
    variables: Mapping[str, Any] | None = None,
    xcoms: Mapping[Any, Any] | None = None,
    at: Any = None,
    asset_events: Mapping[Any, Any] | None = None,
    answers: Mapping[str, Any] | None = None,
    takes: Mapping[str, Any] | None = None,
) -> RunResult:
    """Runs the DAG once in this process. No retry, sensor or trigger of a moment is waited for: the clock moves.

    `xcoms` are the values of tasks that do not run, by task id or by task id and key. `at` is the moment of the run, or
    one of `scheduled_runs()`. `asset_events` start the run: the extra of each event by asset. `answers` are those of
    people, by task id. `takes` says how long tasks run on the clock of the test.
    """
    return _run(
        _dag_of(dag),
        conf=conf,
        connections=connections,
        variables=variables,
        xcoms=xcoms,
        at=at,
        asset_events=asset_events,
        answers=answers,
        takes=takes,
    )


def run_task(
    task: Any,
    *,
    map_index: int | None = None,
    conf: Mapping[str, Any] | None = None,
    connections: Mapping[str, Any] | None = None,
    variables: Mapping[str, Any] | None = None,
    xcoms: Mapping[Any, Any] | None = None,
    at: Any = None,
    asset_events: Mapping[Any, Any] | None = None,
    answers: Mapping[str, Any] | None = None,
    recorded: Mapping[str, Any] | None = None,
) -> Any:
    """Runs one task, as if all tasks before it had succeeded. Returns a TaskResult, or a MappedTask.

    `xcoms` are the values of tasks before it. Of a mapped task, `map_index` chooses one instance. `recorded` is a try of
    a control plane, as `svc replay --to-test` writes it: the task sees its run, and runs once.
    """
    operator: Any = getattr(task, "operator", task) if isinstance(task, XComArg) else task
    if not hasattr(operator, "task_id") or not hasattr(operator, "dag"):
        raise TypeError(f"run_task() needs a task, such as dag.get_task('load'), and not {task!r}")
    dag = operator.dag
    if dag is None:
        operator = copy.copy(operator)
        dag = DAG(f"test_{operator.task_id}", schedule=None)
        operator.dag = dag
    run = _run(
        dag,
        conf=conf,
        connections=connections,
        variables=variables,
        xcoms=xcoms,
        at=at,
        asset_events=asset_events,
        answers=answers,
        takes=None,
        only=(operator.task_id, map_index),
        recorded=None if recorded is None else RecordedTry.of(recorded),
    )
    found = run.task(operator.task_id)
    if map_index is None or not hasattr(found, "instances"):
        return found
    if not 0 <= map_index < len(found):
        raise ValueError(f"{operator.task_id} has {len(found)} instances and none with map index {map_index}")
    return found[map_index]


def _run(dag: DAG, *, at, **given) -> RunResult:
    with _clock() as clock:
        if at is not None:
            clock.move_to(moment_in(dag, _moment_of(at)))
        result = run_once(dag, clock=clock, at=at, **given)
    recorder.runs.append(result)
    return result


def run_once(
    dag: DAG,
    *,
    clock: Clock,
    conf,
    connections,
    variables,
    xcoms,
    at,
    answers,
    asset_events=None,
    takes=None,
    only: tuple[str, int | None] | None = None,
    debug: Debug | None = None,
    recorded: RecordedTry | None = None,
    ask: Callable[[str, str], str | None] | None = None,
) -> RunResult:
    """On this clock as it is. `at` only dates the run. `recorded` is the try that runs again, and dates its run."""
    check_tasks(dag, "answers", answers or {})
    scheduled = at if isinstance(at, ScheduledRun) else None
    now = datetime.datetime.now(datetime.timezone.utc) if at is None else moment_in(dag, _moment_of(at))
    run, interval = run_of(now, conf=conf, by_assets=bool(asset_events), scheduled=scheduled)
    if recorded is not None:
        run, interval = recorded.run_and_interval(conf)
    given = Given(
        run=run,
        interval=interval,
        connections=connections_of(connections),
        variables=variables_of(variables),
        xcoms=values_of(dag, xcoms),
        answers=dict(answers or {}),
        events=recorded.asset_events if recorded is not None else events_of(asset_events, now),
        takes=durations_of(dag, takes),
        only=only,
        recorded=recorded,
        ask=ask,
    )
    result = VirtualRun(dag, given, clock, debug).to_end()
    assert isinstance(result, RunResult)
    return result


def _moment_of(at):
    return at.run_after if isinstance(at, ScheduledRun) else at


def _dag_of(dag) -> DAG:
    if isinstance(dag, DAG):
        return dag
    if callable(dag):
        raise TypeError(f"run_dag() needs a DAG. Call the function that makes it: run_dag({dag.__name__}())")
    raise TypeError(f"run_dag() needs a DAG, and not {dag!r}")


@contextlib.contextmanager
def _clock() -> Iterator[Clock]:
    """That of the test, which goes on after the run, or one for this run."""
    if active.clock is not None:
        yield active.clock
        return
    clock = Clock()
    try:
        yield clock
    finally:
        clock.close()
