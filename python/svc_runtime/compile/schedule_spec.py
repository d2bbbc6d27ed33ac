"""Timetable objects → the tagged `schedule` object of the spec."""

from __future__ import annotations

import datetime

from ..exceptions import RecordingError
from ..record import timetables as tt
from ..record.cron_text import PRESETS
from ..record.timezones import iso
from .encode import Encoder, relativedelta_fields, seconds


def duration(value):
    """timedelta → {"seconds": n}; relativedelta → {"relative": {...}}."""
    if value is None:
        return None
    if isinstance(value, datetime.timedelta):
        return {"seconds": seconds(value)}
    if type(value).__name__ == "relativedelta":
        return {"relative": relativedelta_fields(value)}
    if isinstance(value, (int, float)):
        return {"seconds": value}
    raise RecordingError(f"{value!r} is not a duration", "Use datetime.timedelta or dateutil's relativedelta")


def _immediately(value):
    return duration(value) if isinstance(value, datetime.timedelta) else bool(value)


def _expression(text: str) -> str:
    return PRESETS.get(text.strip().lower(), text)


def schedule_spec(timetable, dag_timezone: str, encoder: Encoder) -> dict:
    kind = timetable.spec_type
    if kind is None or type(timetable).__module__ != tt.__name__:
        raise RecordingError(
            f"the timetable class {type(timetable).__module__}.{type(timetable).__qualname__} is the author's own code, "
            "which the scheduler does not run",
            "Use a cron, delta, events or asset timetable; EventsTimetable takes any list of dates",
        )
    spec = {"type": kind, "timezone": getattr(timetable, "timezone", dag_timezone)}
    if isinstance(timetable, tt._Cron):
        spec["expression"] = _expression(timetable.expression)
        spec["written_as"] = timetable.expression
    if isinstance(timetable, tt.MultipleCronTriggerTimetable):
        spec["expressions"] = [_expression(text) for text in timetable.expressions]
    if isinstance(timetable, (tt.CronTriggerTimetable, tt.MultipleCronTriggerTimetable)):
        spec["interval"] = duration(timetable.interval)
        spec["run_immediately"] = _immediately(timetable.run_immediately)
    if isinstance(timetable, tt.CronPartitionTimetable):
        offset = timetable.run_offset
        spec["run_offset"] = offset if offset is None or isinstance(offset, int) else duration(offset)
        spec["run_immediately"] = _immediately(timetable.run_immediately)
        spec["key_format"] = timetable.key_format
    if isinstance(timetable, tt._Delta):
        spec["delta"] = duration(timetable.delta)
    if isinstance(timetable, tt.DeltaTriggerTimetable):
        spec["interval"] = duration(timetable.interval)
    if isinstance(timetable, tt.EventsTimetable):
        spec["event_dates"] = [iso(date) for date in timetable.event_dates]
        spec["restrict_to_events"] = bool(timetable.restrict_to_events)
        spec["description"] = timetable.description
    if isinstance(timetable, tt.AssetTriggeredTimetable):
        spec["condition"] = encoder.asset(timetable.asset_condition)
    if isinstance(timetable, tt.AssetOrTimeSchedule):
        spec["timetable"] = schedule_spec(timetable.timetable, dag_timezone, encoder)
    if isinstance(timetable, tt.PartitionedAssetTimetable):
        spec["default_partition_mapper"] = timetable.default_partition_mapper.to_spec()
        spec["partition_mappers"] = [
            {"asset": encoder.asset(asset), "mapper": mapper.to_spec()}
            for asset, mapper in timetable.partition_mapper_config.items()
        ]
    return spec
