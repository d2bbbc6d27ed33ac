"""Branching: choose which direct downstream tasks run; the others are skipped."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from svc_runtime.exceptions import AirflowException, DownstreamTasksSkipped
from svc_runtime.record.operator import BaseOperator


class SkipMixin:
    """Skipping is a request to the runner: it raises, the scheduler marks."""

    @property
    def log(self) -> logging.Logger:
        return logging.getLogger(f"{type(self).__module__}.{type(self).__name__}")

    def skip(self, ti, tasks) -> None:
        """Skips these tasks of the same run. They have to be directly downstream."""
        skip_downstream(ti, sorted(task.node_id for task in tasks))

    def skip_all_except(self, ti, branch_task_ids) -> None:
        _skip_all_except(self, ti, branch_task_ids)


class BranchMixIn(SkipMixin):
    def do_branch(self, context, branches_to_execute):
        self.skip_all_except(context["ti"], branches_to_execute)
        return branches_to_execute


def _skip_all_except(task, ti, branch_task_ids) -> None:
    chosen = resolve_branches(task, branch_task_ids)
    # A task that is also reachable from a chosen branch must run, whatever the shortcut edge says.
    keep = set(chosen)
    for task_id in chosen:
        keep |= task.dag.get_task(task_id).get_flat_relative_ids(upstream=False)
    skipped = sorted(task.downstream_task_ids - keep)
    ti.xcom_push(key="skipmixin_key", value={"followed": sorted(task.downstream_task_ids & keep)})
    skip_downstream(ti, skipped)


def skip_downstream(ti, skipped: list) -> None:
    """Ends the body, and with it its return value; one instance of several goes on and keeps its value, as on Airflow."""
    if not skipped:
        return
    if ti.map_index < 0:
        raise DownstreamTasksSkipped(tasks=skipped)
    ti.svc_skips = skipped


def resolve_branches(task, branches) -> set:
    """None, one id or several; a group id stands for the group's first tasks.

    As on Airflow, the tasks only have to be in the DAG. What is not downstream of the branch changes nothing.
    """
    if branches is None:
        return set()
    names = [branches] if isinstance(branches, str) else branches
    if not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
        raise AirflowException(
            f"'branch_task_ids' expected all task IDs are strings, got {branches!r}. Return a task id, a list of "
            "them, or None"
        )
    groups = task.dag.task_group_dict
    found: set = set()
    for name in names:
        if name in groups and name not in task.dag.task_dict:
            found |= {root.task_id for root in groups[name].get_roots()}
        else:
            found.add(name)
    unknown = found - set(task.dag.task_dict)
    if unknown:
        raise AirflowException(
            f"'branch_task_ids' must contain only valid task_ids. Invalid tasks found: {sorted(unknown)}"
        )
    return found


class BaseBranchOperator(BaseOperator, BranchMixIn):
    inherits_from_skipmixin = True

    def choose_branch(self, context):
        raise NotImplementedError

    def execute(self, context):
        return self.do_branch(context, self.choose_branch(context))
