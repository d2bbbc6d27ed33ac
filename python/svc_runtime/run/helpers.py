"""Small helpers files import from airflow.utils.* and airflow.models.*."""

from __future__ import annotations

import os
from contextlib import contextmanager

from ..exceptions import RecordingError
from . import current


def days_ago(n: int, hour: int = 0, minute: int = 0, second: int = 0, microsecond: int = 0):
    """Kept for old files: midnight n days back. It makes every compile different, so the author is told."""
    import datetime

    from ..record import current

    current.warn("days_ago() makes the compiled DAG change every day; write a fixed start_date")
    today = datetime.datetime.now(datetime.timezone.utc).replace(
        hour=hour, minute=minute, second=second, microsecond=microsecond
    )
    return today - datetime.timedelta(days=n)


def round_time(dt=None, delta=None, start_date=None):
    return dt


def apply_defaults(func):
    """A decorator of Airflow 1: every operator has its effect now."""
    return func


def exactly_one(*args) -> bool:
    return sum(map(bool, args)) == 1


def at_most_one(*args) -> bool:
    return sum(1 for arg in args if arg) <= 1


def prune_dict(val, mode: str = "strict"):
    def keep(value) -> bool:
        return value is not None if mode == "strict" else bool(value)

    if isinstance(val, dict):
        return {k: prune_dict(v, mode) if isinstance(v, (dict, list)) else v for k, v in val.items() if keep(v)}
    if isinstance(val, list):
        return [prune_dict(v, mode) if isinstance(v, (dict, list)) else v for v in val if keep(v)]
    return val


def merge_dicts(dict1: dict, dict2: dict) -> dict:
    merged = dict(dict1)
    for key, value in dict2.items():
        both = isinstance(merged.get(key), dict) and isinstance(value, dict)
        merged[key] = merge_dicts(merged[key], value) if both else value
    return merged


def chunks(items: list, chunk_size: int):
    if chunk_size <= 0:
        raise ValueError("Chunk size must be a positive integer")
    for index in range(0, len(items), chunk_size):
        yield items[index : index + chunk_size]


def import_string(dotted_path: str):
    import importlib

    module, _, name = dotted_path.rpartition(".")
    if not module:
        raise ImportError(f"{dotted_path} doesn't look like a module path")
    return getattr(importlib.import_module(module), name)


def get_random_string(length: int = 8, choices: str = "abcdefghijklmnopqrstuvwxyz0123456789") -> str:
    import random

    return "".join(random.choice(choices) for _ in range(length))


def to_boolean(text: str | None) -> bool:
    return text is not None and text.lower() in ("on", "t", "true", "y", "yes", "1")


def mask_secret(secret, name: str | None = None) -> None:
    """Hides the value, and every text inside it, in the task's log and rendered fields."""
    from . import current
    from .masks import masks

    if current.secrets_source is None:
        masks.add(secret)
    else:
        current.secrets_source.mask(secret)


async def amask_secret(secret, name: str | None = None) -> None:
    import asyncio

    await asyncio.to_thread(mask_secret, secret, name)


@contextmanager
def patch_environ(variables: dict):
    """Sets environment variables, None unsets one, and puts back what was there."""
    before = {name: os.environ.get(name) for name in variables}
    _set_environ(variables)
    try:
        yield
    finally:
        _set_environ(before)


def _set_environ(variables: dict) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def no_database(name: str):
    """Stands for parts of Airflow that talk to its metadata database."""

    def refuse(*args, **kwargs):
        raise RecordingError(
            f"{name} needs Airflow's metadata database",
            "Read runs, states and values through the REST API or the task context instead",
        )

    refuse.__name__ = name
    return refuse


@contextmanager
def create_session():
    no_database("create_session()")()
    yield


def provide_session(func):
    """Functions keep their shape; the session itself does not exist."""
    return func


class DatabaseModel:
    """Importable for type hints; every use says what to do instead."""

    def __init__(self, *args, **kwargs) -> None:
        no_database(type(self).__name__)()

    def __class_getitem__(cls, item):
        return cls


class DagRun(DatabaseModel):
    @staticmethod
    def find(*args, **kwargs):
        no_database("DagRun.find()")()

    @staticmethod
    def _get_partial_task_ids(dag):
        """Listeners ask: a run here is always one of all tasks."""

    @staticmethod
    def fetch_task_instances(dag_id=None, run_id=None, task_ids=None, state=None, session=None):
        run = current.heard_run
        if run is None or (run.dag_id, run.run_id) != (dag_id, run_id):
            no_database("DagRun.fetch_task_instances()")()
        return [each for each in run.get_task_instances(state) if task_ids is None or each.task_id in task_ids]


class TaskInstance(DatabaseModel): ...


class DagModel(DatabaseModel): ...


class Pool(DatabaseModel): ...


class Context(dict):
    """Type of the context argument in annotations."""


class LiteralValue:
    """`literal("{{ x }}")`: a value that must not be rendered."""

    def __init__(self, value) -> None:
        self.value = value

    def iter_references(self):
        return iter(())

    def resolve(self, context):
        return self.value


def literal(value) -> LiteralValue:
    return LiteralValue(value)


class AirflowPlugin:
    """A plugin of the author's; what is used of it is said in plugins/loader.py."""

    name: str | None = None
    source: str | None = None
    macros: list = []
    timetables: list = []
    listeners: list = []
    global_operator_extra_links: list = []
    operator_extra_links: list = []

    @classmethod
    def on_load(cls, *args, **kwargs) -> None:
        """Called when the plugin has been found."""


def hookimpl(func=None, **_):
    if func is None:
        return hookimpl
    func.svc_hookimpl = True  # plugins/listeners.py calls what is marked
    return func


def context_merge(context, *args, **kwargs) -> None:
    context.update(*args, **kwargs)
