"""Timetable objects → the tagged `schedule` object of the spec (packages/spec/timetables/schema.ts)."""

from __future__ import annotations

import datetime

from ..ask_timetable import class_name, is_custom, runs_after
from ..exceptions import RecordingError
from ..record import timetables as tt
from ..record.partition_mappers import check_format, mapper_spec
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


def _offset(value):
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 1000):
        return value
    raise RecordingError(
        f"run_offset of CronPartitionTimetable is {value!r}, and a whole number of runs is needed",
        "Use for example -1 for the partition before",
    )


def _custom(timetable, dag, encoder: Encoder) -> dict:
    """The author's own class: what it says of itself, and the runs it gave when it was asked here."""
    timetable.validate()
    asked = runs_after(timetable, last=None, earliest=dag.start_date, latest=dag.end_date, catchup=bool(dag.catchup))
    return {
        "type": "custom",
        "class": class_name(timetable),
        "arguments": encoder.encode(dict(timetable.serialize())),
        "summary": str(timetable.summary),
        "description": str(timetable.description or ""),
        "periodic": bool(timetable.periodic),
        "can_be_scheduled": bool(timetable.can_be_scheduled),
        "active_runs_limit": timetable.active_runs_limit,
        "table": asked,
    }


def schedule_spec(timetable, encoder: Encoder, dag) -> dict:
    if is_custom(timetable):
        return _custom(timetable, dag, encoder)
    spec: dict = {"type": timetable.spec_type}
    if isinstance(timetable, tt._Cron):
        spec["expression"] = timetable.expression
        spec["timezone"] = timetable.timezone
    if isinstance(timetable, tt.MultipleCronTriggerTimetable):
        spec["expressions"] = list(timetable.expressions)
        spec["timezone"] = timetable.timezone
    if isinstance(timetable, (tt.CronTriggerTimetable, tt.MultipleCronTriggerTimetable)):
        spec["interval"] = delta(timetable.interval)
        spec["run_immediately"] = _immediately(timetable.run_immediately)
    if isinstance(timetable, tt.CronPartitionTimetable):
        spec["run_offset"] = _offset(timetable.run_offset)
        spec["run_immediately"] = _immediately(timetable.run_immediately)
        spec["key_format"] = check_format(timetable.key_format, "key_format of CronPartitionTimetable")
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
    if isinstance(timetable, tt.PartitionedAssetTimetable):
        spec["mappers"] = [
            {"asset": encoder.asset(asset), "mapper": mapper_spec(mapper, encoder.encode)}
            for asset, mapper in timetable.partition_mapper_config.items()
        ]
        spec["default_mapper"] = mapper_spec(timetable.default_partition_mapper, encoder.encode)
    if isinstance(timetable, tt.AssetOrTimeSchedule):
        spec["timetable"] = schedule_spec(timetable.timetable, encoder, dag)
    return spec


def without_answers(spec: dict) -> dict:
    """The spec as it is identified: what an own timetable answered depends on when it was asked."""
    schedule = spec["schedule"]
    inner = schedule.get("timetable") if schedule["type"] == "asset_or_time" else None
    if inner is not None and inner["type"] == "custom":
        return {**spec, "schedule": {**schedule, "timetable": _untabled(inner)}}
    return {**spec, "schedule": _untabled(schedule)} if schedule["type"] == "custom" else spec


def _untabled(schedule: dict) -> dict:
    return {name: value for name, value in schedule.items() if name != "table"}
