"""`@setup` and `@teardown`, above `@task` or on a plain function."""

from __future__ import annotations

from airflow.providers.standard.decorators.python import python_task

from ..exceptions import AirflowException
from ..record.decorated import TaskDecorator


def setup_task(func):
    decorated = _as_task(func)
    decorated.is_setup = True
    return decorated


def teardown_task(_func=None, *, on_failure_fail_dagrun: bool = False):
    def mark(func):
        decorated = _as_task(func)
        decorated.is_teardown = True
        decorated.on_failure_fail_dagrun = on_failure_fail_dagrun
        return decorated

    return mark if _func is None else mark(_func)


def _as_task(func) -> TaskDecorator:
    if hasattr(func, "svc_group_decorator"):
        raise AirflowException("Task groups cannot be marked as setup or teardown.")
    return func if isinstance(func, TaskDecorator) else python_task(func)
