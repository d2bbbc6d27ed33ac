"""Listeners of plugins: those of task instances are called in the task's process, those of runs in a process of their own, which is also
what starts and stops for them. What one raises is logged, and no more."""

from __future__ import annotations

import contextlib
import inspect
import logging
from types import ModuleType

FIRED = (
    "on_task_instance_running",
    "on_task_instance_success",
    "on_task_instance_failed",
    "on_task_instance_skipped",
)
RUN_HOOKS = ("on_dag_run_running", "on_dag_run_success", "on_dag_run_failed")
AROUND_THEM = ("on_starting", "before_stopping")
_OTHERS = (
    "on_asset_created",
    "on_asset_changed",
    "on_asset_alias_created",
    "on_asset_event_emitted",
    "on_new_dag_import_error",
    "on_existing_dag_import_error",
)
HOOKS = (*FIRED, *AROUND_THEM, *RUN_HOOKS, *_OTHERS)
# Those of the plugins that were loaded (plugins/loader.py).
registered: list = []
_OF_STATES = {"success": FIRED[1], "failed": FIRED[2], "skipped": FIRED[3]}


@contextlib.contextmanager
def unheard():
    """Listeners hear nothing of tasks that are run only to warm up a process."""
    kept = list(registered)
    registered.clear()
    try:
        yield
    finally:
        registered[:] = kept


def names_in(listener) -> list[str]:
    """The hooks that it implements: functions of that name marked by `@hookimpl`."""
    return [name for name in HOOKS if _hook(listener, name) is not None]


def _hook(listener, name: str):
    function = getattr(listener, name, None)
    marked = getattr(function, "svc_hookimpl", False) or getattr(function, "airflow_impl", None)
    return function if callable(function) and marked else None


def tell_running(ti) -> None:
    tell(FIRED[0], previous_state="queued", task_instance=ti)


def tell_ended(ti, state: str, error) -> None:
    name = _OF_STATES.get(state)
    if name is None:
        return
    more = {"error": error} if name == FIRED[2] else {}
    tell(name, previous_state="running", task_instance=ti, **more)


class RunListening:
    """The component that starts and stops, where Airflow has its scheduler."""


def is_heard(hook: str) -> bool:
    return any(_hook(listener, hook) for listener in registered)


def tell_of_run(hook: str, run, message: str) -> None:
    component = RunListening()
    tell("on_starting", component=component)
    tell(hook, dag_run=run, msg=message)
    # Whoever sends from somewhere else sends what is left.
    tell("before_stopping", component=component)


def tell(name: str, **facts) -> None:
    """Each with the arguments that it names, as pluggy does."""
    for listener in registered:
        function = _hook(listener, name)
        if function is None:
            continue
        try:
            known = inspect.signature(function).parameters
            function(**{key: value for key, value in facts.items() if key in known})
        except Exception:
            shown = listener.__name__ if isinstance(listener, ModuleType) else type(listener).__name__
            logging.getLogger("task").exception("the listener %s failed in %s", shown, name)
