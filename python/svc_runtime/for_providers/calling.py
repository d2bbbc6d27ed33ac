"""What `airflow.sdk.bases.decorator` and its neighbours offer to those who write decorators, and calls with a limit in time."""

from __future__ import annotations

import functools
import inspect
import signal
import time

from ..exceptions import AirflowTaskTimeout
from ..record import current as recording
from ..record.decorated import unique_task_id
from ..record.mapped import MappedOperator
from ..run.callables import context_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DecoratedMappedOperator = MappedOperator


def unwrap_callable(func):
    """Out of partials and decorators that keep what they wrap."""
    while isinstance(func, functools.partial) or hasattr(func, "__wrapped__"):
        func = func.func if isinstance(func, functools.partial) else func.__wrapped__
    return func


def is_async_callable(func) -> bool:
    plain = unwrap_callable(func)
    return inspect.iscoroutinefunction(plain) or inspect.iscoroutinefunction(getattr(plain, "__call__", None))  # noqa: B004


def determine_kwargs(func, args, kwargs) -> dict:
    """Those of `kwargs` that the function takes beside `args`; all of them for `**kwargs`."""
    wanted = context_arguments(func, args, {}, kwargs)
    repeated = [name for name in wanted if name in list(inspect.signature(func).parameters)[: len(args)]]
    if repeated:
        raise ValueError(f"The key {repeated[0]!r} in args is a part of kwargs and therefore reserved.")
    return wanted


class KeywordParameters:
    def __init__(self, kwargs) -> None:
        self._kwargs = dict(kwargs)

    @classmethod
    def determine(cls, func, args, kwargs) -> KeywordParameters:
        return cls(determine_kwargs(func, args, kwargs))

    def unpacking(self) -> dict:
        return dict(self._kwargs)


def make_kwargs_callable(func):
    @functools.wraps(func)
    def called(*args, **kwargs):
        return func(*args, **determine_kwargs(func, args, kwargs))

    return called


def get_unique_task_id(task_id: str, dag=None, task_group=None) -> str:
    dag = dag or recording.current_dag()
    if task_group is None and dag is not None:
        task_group = recording.current_group(dag)
    return unique_task_id(task_id, dag, task_group)


class timeout:
    """Raises AirflowTaskTimeout in the main thread when the block takes longer."""

    def __init__(self, seconds=1, error_message: str = "Timeout") -> None:
        self.seconds = seconds
        self.error_message = error_message
        self._before: Any = None
        self._alarm = (0.0, 0.0)

    def handle_timeout(self, signum, frame) -> None:
        raise AirflowTaskTimeout(self.error_message)

    def __enter__(self):
        self._before = signal.signal(signal.SIGALRM, self.handle_timeout)
        # The task's own limit uses the same timer.
        left, _ = signal.setitimer(signal.ITIMER_REAL, self.seconds)
        self._alarm = (left, time.monotonic())
        return self

    def __exit__(self, *exc) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before)
        left, since = self._alarm
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - since), 0.001))


TimeoutPosix = timeout


def is_container(obj) -> bool:
    return hasattr(obj, "__iter__") and not isinstance(obj, str)


def as_flattened_list(iterable) -> list:
    return [item for part in iterable for item in (as_flattened_list(part) if is_container(part) else [part])]
