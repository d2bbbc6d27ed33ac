"""Triggers that wait for runs and tasks of other DAGs: the engine decides them when those end, so nothing has to look again and
again. It knows of ends: who waits for a state on the way there is left to a triggerer.
"""

from __future__ import annotations

import json

from .moments import iso
from .xcom_values import decode, encode

_MODULE = "airflow.providers.standard.triggers.external_task"
_RUN_ENDS = {"success", "failed"}
_TASK_ENDS = {"success", "failed", "skipped", "upstream_failed", "removed"}
_MOST = 1000


def awaits_of(class_path: str, kwargs: dict) -> dict | None:
    if class_path == f"{_MODULE}.WorkflowTrigger":
        asked = _workflow(kwargs)
    elif class_path == f"{_MODULE}.DagStateTrigger":
        asked = _dag_state(class_path, kwargs)
    else:
        return None
    by_task = asked["taskIds"] is not None or asked["taskGroupId"] is not None
    states = {*asked["allowed"], *asked["skipped"], *asked["failed"]}
    named = asked["runIds"] if asked["runIds"] is not None else asked["logicalDates"]
    lists = [named or [], asked["taskIds"] or []]
    if not named or not states <= (_TASK_ENDS if by_task else _RUN_ENDS) or any(len(names) > _MOST for names in lists):
        return None
    return asked


def _workflow(kwargs: dict) -> dict:
    task_ids = kwargs.get("external_task_ids")
    return {
        "dagId": kwargs["external_dag_id"],
        **_runs(kwargs.get("run_ids"), kwargs.get("logical_dates")),
        "taskIds": None if task_ids is None else list(task_ids),
        "taskGroupId": kwargs.get("external_task_group_id"),
        "allowed": _states(kwargs.get("allowed_states")) or ["success"],
        "skipped": _states(kwargs.get("skipped_states")),
        "failed": _states(kwargs.get("failed_states")),
        "echo": None,
    }


def _dag_state(class_path: str, kwargs: dict) -> dict:
    return {
        "dagId": kwargs["dag_id"],
        **_runs(kwargs.get("run_ids"), kwargs.get("execution_dates")),
        "taskIds": None,
        "taskGroupId": None,
        "allowed": _states(kwargs.get("states")),
        "skipped": [],
        "failed": [],
        "echo": json.dumps([class_path, encode(dict(kwargs))]),
    }


def _runs(run_ids, dates) -> dict:
    if run_ids is not None:
        return {"runIds": list(run_ids), "logicalDates": None}
    return {"runIds": None, "logicalDates": None if dates is None else [iso(date) for date in dates]}


def _states(given) -> list:
    return [str(getattr(state, "value", state)) for state in given or ()]


def event_of_runs(told: dict) -> tuple:
    """As DagStateTrigger gives it: what it was, with the states of the runs among its arguments."""
    class_path, kwargs = json.loads(told["echo"])
    return class_path, {**decode(kwargs), **told["states"]}
