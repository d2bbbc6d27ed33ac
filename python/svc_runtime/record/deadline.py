"""Deadline alerts and callbacks by import path, recorded as data."""

from __future__ import annotations

import datetime
from typing import ClassVar

from ..exceptions import RecordingError


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


class BaseDeadlineReference:
    """The base of an author's own reference. A worker asks `_evaluate_with` when a run is created, without a session."""

    required_kwargs: ClassVar[set[str]] = set()

    def _evaluate_with(self, *, session, **kwargs) -> datetime.datetime | None:
        raise NotImplementedError

    @property
    def reference_name(self) -> str:
        return type(self).__name__

    def serialize_reference(self) -> dict:
        return {"reference_type": self.reference_name}

    @classmethod
    def deserialize_reference(cls, reference_data: dict) -> BaseDeadlineReference:
        return cls()


class VariableInterval:
    """Seconds that a variable has. It is read with the file, which is compiled again when the variable changes."""

    def __init__(self, key: str) -> None:
        self.key = key


class _Reference:
    def __init__(self, name: str, **arguments) -> None:
        self.name = name
        self.arguments = arguments


class _Types:
    DAGRUN_CREATED = ("dagrun_logical_date", "fixed_datetime", "average_runtime")
    DAGRUN_QUEUED = ("dagrun_queued_at",)
    DAGRUN = DAGRUN_CREATED + DAGRUN_QUEUED


class DeadlineReference:
    TYPES = _Types
    DAGRUN_LOGICAL_DATE = _Reference("dagrun_logical_date")
    DAGRUN_QUEUED_AT = _Reference("dagrun_queued_at")

    @staticmethod
    def FIXED_DATETIME(dt: datetime.datetime) -> _Reference:
        return _Reference("fixed_datetime", datetime=dt)

    @staticmethod
    def AVERAGE_RUNTIME(max_runs: int = 0, min_runs: int | None = None) -> _Reference:
        return _Reference("average_runtime", max_runs=max_runs or 10, min_runs=min_runs or max_runs or 10)

    @classmethod
    def register_custom_reference(cls, reference_class: type, deadline_reference_type=None) -> type:
        if not (isinstance(reference_class, type) and issubclass(reference_class, BaseDeadlineReference)):
            raise ValueError(f"{reference_class!r} must inherit from BaseDeadlineReference")
        setattr(cls, reference_class.__name__, reference_class())
        return reference_class


def deadline_reference(deadline_reference_type=None):
    """`@deadline_reference` and `@deadline_reference(…)` register a class. A worker runs its code for each run."""
    if isinstance(deadline_reference_type, type):
        return DeadlineReference.register_custom_reference(deadline_reference_type)
    return lambda kind: DeadlineReference.register_custom_reference(kind, deadline_reference_type)


# What a reference may ask for in `required_kwargs`.
KNOWN_KWARGS = ("dag_id", "run_id")


def _check_reference(reference: BaseDeadlineReference) -> None:
    what = f"the deadline reference {reference.reference_name}"
    if type(reference)._evaluate_with is BaseDeadlineReference._evaluate_with:
        raise RecordingError(f"{what} has no _evaluate_with()", "Write _evaluate_with(self, *, session, **kwargs)")
    unknown = sorted(set(reference.required_kwargs) - set(KNOWN_KWARGS))
    if unknown:
        raise RecordingError(f"{what} requires {', '.join(unknown)}", f"Ask for {' and '.join(KNOWN_KWARGS)} only")


class DeadlineAlert:
    def __init__(
        self,
        reference,
        interval: datetime.timedelta | VariableInterval,
        callback: Callback,
        name: str | None = None,
    ) -> None:
        if isinstance(reference, BaseDeadlineReference):
            _check_reference(reference)
        if not isinstance(callback, Callback):
            raise ValueError(f"Callbacks of type {type(callback).__name__} are not currently supported")
        self.reference = reference
        self.interval = interval
        self.name = name
        self.callback = callback
