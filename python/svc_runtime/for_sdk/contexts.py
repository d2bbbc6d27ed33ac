"""`DagContext` and `TaskGroupContext`: the DAG and the group whose `with` block is open."""

from __future__ import annotations

from ..record import current


class DagContext:
    @classmethod
    def get_current(cls):
        return current.current_dag()

    get_current_dag = get_current


class TaskGroupContext:
    @classmethod
    def get_current(cls, dag=None):
        owner = dag or current.current_dag()
        return None if owner is None else current.current_group(owner)
