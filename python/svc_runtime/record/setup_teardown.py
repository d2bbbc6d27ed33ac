"""Setup and teardown: marking tasks, pairing them, and `with setup_task:` scopes.

A scope holds its setup tasks and (when paired) their teardowns; every task created inside it runs
between the two. Scopes nest; only the innermost one is linked, outer ones follow by transitivity.
"""

from __future__ import annotations

from ..enums import TriggerRule
from ..exceptions import AirflowException
from . import current
from .node import DependencyMixin
from .notset import NOTSET


class _Scope:
    def __init__(self, setups: list, teardowns: list) -> None:
        self.setups = setups
        self.teardowns = teardowns
        self.tasks: list = []
        # Setups and teardowns of scopes inside this one; others created here stand for themselves.
        self.nested: list = []

    def add_task(self, task) -> None:
        """`with a >> b as scope: scope.add_task(c)` takes in a task that was made before."""
        _remember(self, _task_of(task))


def mark_setup(task) -> None:
    if task.is_teardown:
        raise AirflowException(f"Cannot mark task '{task.task_id}' as setup; task is already a teardown.")
    task.is_setup = True


def mark_teardown(task, *, setups=None, on_failure_fail_dagrun=NOTSET) -> None:
    if task.is_setup:
        raise AirflowException(f"Cannot mark task '{task.task_id}' as teardown; task is already a setup.")
    task.is_teardown = True
    task.trigger_rule = TriggerRule.ALL_DONE_SETUP_SUCCESS
    if on_failure_fail_dagrun is not NOTSET and on_failure_fail_dagrun is not None:
        if not isinstance(on_failure_fail_dagrun, bool):
            raise ValueError("on_failure_fail_dagrun must be a boolean")
        task.on_failure_fail_dagrun = on_failure_fail_dagrun
    for setup in _flatten(setups):
        setup_task = _task_of(setup)
        mark_setup(setup_task)
        setup_task.set_downstream(task)


def _flatten(value) -> list:
    if value is None:
        return []
    return [value] if isinstance(value, DependencyMixin) else list(value)


def _task_of(node):
    return getattr(node, "operator", node)


def enter(nodes: list) -> _Scope:
    """Opens a scope for `with a:` or `with a >> b:` (the value of `a >> b` is b, so b may be the teardown)."""
    tasks = [_task_of(node) for node in nodes]
    setups: list = []
    teardowns: list = []
    for task in tasks:
        if task.is_setup:
            setups.append(task)
            teardowns.extend(down for down in task.downstream_list if down.is_teardown)
        elif task.is_teardown:
            teardowns.append(task)
            setups.extend(up for up in task.upstream_list if up.is_setup)
        else:
            raise AirflowException("Only setup/teardown tasks can be used as context managers.")
    outer = current.setup_stack[-1] if current.setup_stack else None
    scope = _Scope(_unique(setups), _unique(teardowns))
    if outer is not None:
        for task in (*scope.setups, *scope.teardowns):
            _remember(outer, task)
            outer.nested.append(task)
    current.setup_stack.append(scope)
    return scope


def leave() -> None:
    scope = current.setup_stack.pop()
    # A setup or teardown that was created here belongs to the tasks around it, and is no step between them and the scope.
    work = [
        task
        for task in scope.tasks
        if not (task.is_setup or task.is_teardown) or any(task is known for known in scope.nested)
    ]
    if not work:
        return
    # As on Airflow, a task with an upstream or downstream task of its own, inside or outside of the scope, is not linked to
    # it. If all tasks have one, the first task follows the setup, and the last one precedes the teardown.
    first = [task for task in work if not task.upstream_task_ids] or work[:1]
    last = [task for task in work if not task.downstream_task_ids] or work[-1:]
    for task in first:
        for setup in scope.setups:
            if task is not setup:
                task.set_upstream(setup)
    for task in last:
        for teardown in scope.teardowns:
            if task is not teardown:
                task.set_downstream(teardown)


def note_task(task) -> None:
    """Called for every task created; joins the innermost open scope."""
    if current.setup_stack:
        _remember(current.setup_stack[-1], task)


def _remember(scope: _Scope, task) -> None:
    if not any(known is task for known in scope.tasks + scope.setups + scope.teardowns):
        scope.tasks.append(task)


def _unique(tasks: list) -> list:
    found: list = []
    for task in tasks:
        if not any(known is task for known in found):
            found.append(task)
    return found
