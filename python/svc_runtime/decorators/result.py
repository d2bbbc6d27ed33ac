"""`@result`, above `@task`: what the task returns is the result of the DAG."""

from __future__ import annotations

from ..exceptions import AirflowException
from ..record.decorated import TaskDecorator


def result(t):
    if not isinstance(t, TaskDecorator):
        raise AirflowException("@result marks a task: write it directly above @task")
    t.returns_dag_result = True
    return t
