"""`airflow_local_settings.py` of the repository: the policies that all its DAGs and tasks go through.

Called when a file is compiled, so that what they change is in the spec, and again in the process of a task, so that the task has
the same attributes. Airflow calls `task_instance_mutation_hook` before each try. Here, what it decides for the scheduler (pool,
queue, retries) is decided once.
"""

from __future__ import annotations

import importlib
import os
import sys

from ..exceptions import AirflowClusterPolicySkipDag, AirflowClusterPolicyViolation
from ..record import current
from ..record.base_args import BASE_DEFAULTS, CALLBACKS, as_list
from ..run import current as running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

MODULE = "airflow_local_settings"
FILE = f"{MODULE}.py"
_POLICIES = ("dag_policy", "task_policy", "task_instance_mutation_hook")
# What the file may define without an effect here, by the row of the table of differences.
_NOT_CALLED = {
    "pod_mutation_hook": "pod-mutation-hook",
    "get_airflow_context_vars": "local-settings",
    "get_dagbag_import_timeout": "local-settings",
    "task_instance_mutation_hook": "mutation-hook",
}
# Of a task instance, and of the task that it comes from.
_SCHEDULING = ("executor", "executor_config", "pool", "pool_slots", "priority_weight", "queue", "run_as_user")


class Violation(Exception):
    """A policy refuses a DAG, or one task of it."""

    def __init__(self, message: str, dag_id: str, task_id: str | None) -> None:
        super().__init__(message)
        self.dag_id = dag_id
        self.task_id = task_id


class PlannedTaskInstance:
    """What `task_instance_mutation_hook` is given while a file is compiled: there is no run yet."""

    def __init__(self, task) -> None:
        self.task = task
        self.task_id = task.task_id
        self.dag_id = task.dag.dag_id
        self.operator = task.task_type
        self.run_id = ""
        self.map_index = -1
        self.try_number = 0
        self.max_tries = task.retries
        for name in _SCHEDULING:
            setattr(self, name, getattr(task, name))


class LocalSettings:
    def __init__(self, module: ModuleType) -> None:
        found = {name: getattr(module, name, None) for name in (*_POLICIES, *_NOT_CALLED)}
        self._functions: dict[str, Any] = {name: each for name, each in found.items() if callable(each)}

    def note_differences(self) -> None:
        for name, row in _NOT_CALLED.items():
            function = self._functions.get(name)
            if function is not None:
                line = getattr(getattr(function, "__code__", None), "co_firstlineno", None)
                current.differ(row, name, f"{FILE}:{line}" if line else FILE)

    def _call(self, name: str, subject) -> None:
        function = self._functions.get(name)
        if function is not None:
            function(subject)

    def applied(self, dags: list) -> list:
        """Those that are kept; a policy may have changed them. Raises Violation, and what the functions raise."""
        return [dag for dag in dags if self._keeps(dag)]

    def _keeps(self, dag) -> bool:
        task = None
        try:
            self._call("dag_policy", dag)
            for task in list(dag.tasks):
                before = dict(vars(task))
                self._call("task_policy", task)
                self._plan(task)
                _settle(task, before)
        except AirflowClusterPolicySkipDag:
            return False
        except AirflowClusterPolicyViolation as error:
            raise Violation(str(error), dag.dag_id, None if task is None else task.task_id) from None
        return True

    def _plan(self, task) -> None:
        if "task_instance_mutation_hook" not in self._functions:
            return
        planned = PlannedTaskInstance(task)
        try:
            self._call("task_instance_mutation_hook", planned)
        except AirflowClusterPolicyViolation:
            raise
        except Exception as error:
            current.warn(
                f"task_instance_mutation_hook cannot be asked about {task.task_id} before it runs, so it does not decide "
                f"its queue and pool: {type(error).__name__}: {error}"
            )
            return
        if planned.max_tries != task.retries:
            task.retries = planned.max_tries
        for name in _SCHEDULING:
            if getattr(planned, name) != getattr(task, name):
                setattr(task, name, getattr(planned, name))

    def mutate(self, ti) -> None:
        """In the process of a task, before anything of it runs."""
        if "task_instance_mutation_hook" in self._functions:
            for name in _SCHEDULING:
                setattr(ti, name, getattr(ti.task, name))
            self._call("task_instance_mutation_hook", ti)


def _settle(task, before: dict) -> None:
    """Attributes that a policy has set become what arguments of these names are."""
    after = vars(task)
    changed = [name for name in BASE_DEFAULTS if name in after and after[name] is not before.get(name)]
    for name in changed:
        if name in CALLBACKS:
            after[name] = as_list(after[name])
        if task.is_mapped:
            task.partial_kwargs[name] = after[name]  # instances are made from the arguments


def load_local_settings() -> LocalSettings | None:
    """None when there is no such file on the path. Raises what the file raises."""
    there = any(os.path.isfile(os.path.join(folder, FILE)) for folder in sys.path)
    running.local_settings = LocalSettings(importlib.import_module(MODULE)) if there else None
    return running.local_settings
