"""Timetable objects → the tagged `schedule` object of the spec (packages/spec/timetables/schema.ts)."""

from __future__ import annotations

import datetime

from ..exceptions import RecordingError
from ..record import timetables as tt
from .encode import Encoder, relativedelta_fields


def delta(value) -> dict:
    """Python's own normal form of a timedelta, or the fields of a relativedelta."""
    if isinstance(value, datetime.timedelta):
        return {"kind": "timedelta", "days": value.days, "seconds": value.seconds, "microseconds": value.microseconds}
    if type(value).__name__ == "relativedelta":
        return {"kind": "relativedelta", **relativedelta_fields(value)}
    raise RecordingError(f"{value!r} is not a duration", "Use datetime.timedelta or dateutil's relativedelta")


def _immediately(value):
    return delta(value) if isinstance(value, datetime.timedelta) else bool(value)


def _refuse(timetable) -> RecordingError:
    name = type(timetable).__name__
    if isinstance(timetable, (tt.CronPartitionTimetable, tt.PartitionedAssetTimetable)):
        return RecordingError(
            f"the schedule is a {name}, and partitioned runs are not supported",
            "Use CronTriggerTimetable or an asset schedule, and pass the partition in the run's conf",
        )
    return RecordingError(
        f"the timetable class {type(timetable).__module__}.{type(timetable).__qualname__} is the author's own code, "
        "which the scheduler does not run",
        "Use a cron, delta, events or asset timetable; EventsTimetable takes any list of dates",
    )


def schedule_spec(timetable, encoder: Encoder) -> dict:
    kind = timetable.spec_type
    if kind is None or type(timetable).__module__ != tt.__name__:
        raise _refuse(timetable)
    spec: dict = {"type": kind}
    if isinstance(timetable, tt._Cron):
        spec["expression"] = timetable.expression
        spec["timezone"] = timetable.timezone
    if isinstance(timetable, tt.MultipleCronTriggerTimetable):
        spec["expressions"] = list(timetable.expressions)
        spec["timezone"] = timetable.timezone
    if isinstance(timetable, (tt.CronTriggerTimetable, tt.MultipleCronTriggerTimetable)):
        spec["interval"] = delta(timetable.interval)
        spec["run_immediately"] = _immediately(timetable.run_immediately)
    if isinstance(timetable, tt._Delta):
        spec["delta"] = delta(timetable.delta)
    if isinstance(timetable, tt.DeltaTriggerTimetable):
        spec["interval"] = delta(timetable.interval)
    if isinstance(timetable, tt.EventsTimetable):
        spec["event_dates"] = [date.isoformat() for date in timetable.event_dates]
        spec["restrict_to_events"] = bool(timetable.restrict_to_events)
        spec["presorted"] = bool(timetable.presorted)
        spec["description"] = timetable.given_description
    if isinstance(timetable, tt.AssetTriggeredTimetable):
        spec["assets"] = encoder.asset(timetable.asset_condition)
    if isinstance(timetable, tt.AssetOrTimeSchedule):
        spec["timetable"] = schedule_spec(timetable.timetable, encoder)
    return spec
