"""Deadline alerts and callbacks by import path, recorded as data."""

from __future__ import annotations

import datetime


class Callback:
    def __init__(self, callback_callable, kwargs: dict | None = None) -> None:
        self.callback = callback_callable
        self.kwargs = dict(kwargs or {})

    @property
    def path(self) -> str:
        if isinstance(self.callback, str):
            return self.callback
        return f"{self.callback.__module__}.{self.callback.__qualname__}"


class AsyncCallback(Callback):
    kind = "async"


class SyncCallback(Callback):
    kind = "sync"

    def __init__(self, callback_callable, kwargs: dict | None = None, executor: str | None = None) -> None:
        super().__init__(callback_callable, kwargs)
        self.executor = executor


class _Reference:
    def __init__(self, name: str, **arguments) -> None:
        self.name = name
        self.arguments = arguments


class DeadlineReference:
    DAGRUN_LOGICAL_DATE = _Reference("dagrun_logical_date")
    DAGRUN_QUEUED_AT = _Reference("dagrun_queued_at")

    @staticmethod
    def FIXED_DATETIME(dt: datetime.datetime) -> _Reference:
        return _Reference("fixed_datetime", datetime=dt)

    @staticmethod
    def AVERAGE_RUNTIME(max_runs: int = 0, min_runs: int | None = None) -> _Reference:
        return _Reference("average_runtime", max_runs=max_runs or 10, min_runs=min_runs or max_runs or 10)


class DeadlineAlert:
    def __init__(self, reference, interval: datetime.timedelta, callback: Callback) -> None:
        if not isinstance(callback, Callback):
            raise ValueError(f"Callbacks of type {type(callback).__name__} are not currently supported")
        self.reference = reference
        self.interval = interval
        self.callback = callback
