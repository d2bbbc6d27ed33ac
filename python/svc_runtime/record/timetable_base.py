"""What an author's own timetable is made of: the base class and the values it is asked with and answers with."""

from __future__ import annotations

import datetime
from typing import Any, NamedTuple

from ..exceptions import RecordingError


class DataInterval(NamedTuple):
    """Start and end of the period a run covers."""

    start: Any
    end: Any

    @classmethod
    def exact(cls, at) -> DataInterval:
        return cls(start=at, end=at)


class TimeRestriction(NamedTuple):
    """From when, until when, and whether missed runs are made up for."""

    earliest: Any
    latest: Any
    catchup: bool


class DagRunInfo(NamedTuple):
    """A run that a timetable wants: when it may start, what it covers, and its partition when it has one."""

    run_after: Any
    data_interval: Any
    partition_date: Any = None
    partition_key: str | None = None

    @classmethod
    def exact(cls, at) -> DagRunInfo:
        return cls(run_after=at, data_interval=DataInterval.exact(at))

    @classmethod
    def interval(cls, start, end) -> DagRunInfo:
        return cls(run_after=end, data_interval=DataInterval(start, end))

    @property
    def logical_date(self):
        return self.data_interval.start if self.data_interval is not None else None


class Computed:
    """An attribute that is worked out where the author's class or object has none of its own."""

    def __init__(self, work) -> None:
        self._work = work

    def __get__(self, timetable, kind=None):
        return self if timetable is None else self._work(timetable)


class Timetable:
    """Base class. The scheduler computes the built-in ones; an author's own is asked where its code may run."""

    spec_type: str | None = None
    active_runs_limit: int | None = None
    description: str = ""
    can_be_scheduled: bool = True
    periodic: bool = True
    run_ordering: Any = ("data_interval_end", "logical_date")
    partitioned: bool = False

    @property
    def summary(self) -> str:
        return type(self).__name__

    @property
    def asset_condition(self):
        return None

    @classmethod
    def deserialize(cls, data: dict) -> Timetable:
        return cls()

    def serialize(self) -> dict:
        return {}

    def validate(self) -> None:
        """Called when a DAG file is loaded; raises AirflowTimetableInvalid for a timetable that cannot be."""

    def infer_manual_data_interval(self, *, run_after) -> DataInterval:
        raise _not_here(self, "infer_manual_data_interval")

    def next_dagrun_info(self, *, last_automated_data_interval, restriction) -> DagRunInfo | None:
        raise _not_here(self, "next_dagrun_info")

    def next_dagrun_info_v2(self, *, last_dagrun_info, restriction) -> DagRunInfo | None:
        last = None if last_dagrun_info is None else last_dagrun_info.data_interval
        return self.next_dagrun_info(last_automated_data_interval=last, restriction=restriction)

    def generate_run_id(self, *, run_type, run_after, data_interval=None, **extra) -> str:
        return f"{getattr(run_type, 'value', run_type)}__{_utc_text(run_after)}"


def _utc_text(moment) -> str:
    return moment.astimezone(datetime.timezone.utc).isoformat()


def _not_here(timetable: Timetable, method: str) -> RecordingError:
    if type(timetable).__mro__[1] is Timetable:
        return RecordingError(
            f"the timetable {type(timetable).__name__} has no {method}()",
            f"Write {method}() in the class: it says which runs there are",
        )
    ours = next(base.__name__ for base in type(timetable).__mro__ if base.__module__.startswith("svc_runtime."))
    return RecordingError(
        f"{type(timetable).__name__} has no {method}() that can be called: the scheduler computes the runs of {ours} itself",
        f"Write {method}() without calling that of {ours}, or use {ours} as it is",
    )
