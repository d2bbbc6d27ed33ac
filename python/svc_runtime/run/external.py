"""States of other DAGs' runs and tasks, counted the way ExternalTaskSensor asks.

external_states answers `{"dag_exists", "missing_task_ids", "missing_task_group", "states": [{"logical_date", "run_id",
"task_id", "map_index", "state"}]}`; for a question about whole runs, `task_id` is null.
"""

from __future__ import annotations

from ..exceptions import ExternalDagNotFoundError, ExternalTaskGroupNotFoundError, ExternalTaskNotFoundError
from .moments import iso


def count_states(
    answer: dict, *, dag_id, task_ids, task_group_id, logical_dates, allowed, skipped, failed, check_existence
) -> dict:
    # Of a task group, Airflow says so whether or not it was asked to check.
    if check_existence or task_group_id:
        _check_existence(answer, dag_id, task_ids, task_group_id)
    dates = {iso(date) for date in logical_dates}
    by_date: dict = {date: [] for date in dates}
    for row in answer["states"]:
        by_date.setdefault(iso(row["logical_date"]), []).append(row)
    complete = 0
    for date in dates:
        rows = by_date[date]
        present = {row["task_id"] for row in rows}
        everything = bool(rows) and (task_ids is None or set(task_ids) <= present)
        complete += everything and all(row["state"] in allowed for row in rows)
    states = [row["state"] for row in answer["states"]]
    return {
        "allowed": complete,
        "expected": len(dates),
        "skipped": sum(state in skipped for state in states),
        "failed": sum(state in failed for state in states),
    }


def _check_existence(answer: dict, dag_id: str, task_ids, task_group_id) -> None:
    if not answer.get("dag_exists", True):
        raise ExternalDagNotFoundError(f"The external DAG {dag_id} does not exist.")
    missing = answer.get("missing_task_ids") or []
    if task_ids and missing:
        raise ExternalTaskNotFoundError(f"The external task {missing[0]} in DAG {dag_id} does not exist.")
    if task_group_id and answer.get("missing_task_group"):
        raise ExternalTaskGroupNotFoundError(
            f"The external task group '{task_group_id}' in DAG '{dag_id}' does not exist."
        )
