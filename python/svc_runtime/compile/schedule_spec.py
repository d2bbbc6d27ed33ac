"""Timetable objects → the tagged `schedule` object of the spec (packages/spec/timetables/schema.ts)."""

from __future__ import annotations

import datetime

from ..ask_timetable import built_in, class_name, is_custom, own_answers, runs_after
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


def _custom(timetable, dag, encoder: Encoder, asked=None) -> dict:
    """The author's own class: what it says of itself, and the runs it gave when it was asked here. `asked`: who asks it in turn."""
    timetable.validate()
    asked = asked or timetable
    answers = runs_after(asked, last=None, earliest=dag.start_date, latest=dag.end_date, catchup=bool(dag.catchup))
    return {
        "type": "custom",
        "class": class_name(timetable),
        "arguments": encoder.encode(dict(timetable.serialize())),
        "summary": str(timetable.summary),
        "description": str(timetable.description or ""),
        "periodic": bool(timetable.periodic),
        "can_be_scheduled": bool(timetable.can_be_scheduled),
        "active_runs_limit": timetable.active_runs_limit,
        **({"partitioned": True} if asked.partitioned else {}),
        "table": answers,
    }


# What an author's class may say of itself beside its runs: told once, when it is compiled.
_TEXTS = {"summary", "description", "asset_condition", "run_ordering"}
_MAPPED = {*_TEXTS, "get_partition_mapper", "next_dagrun_info", "next_dagrun_info_v2"}


def _by_assets(timetable, encoder: Encoder, dag) -> dict:
    own = own_answers(timetable) if is_custom(timetable) else set()
    _refuse(timetable, own & {"generate_run_id", "partitioned"})
    spec: dict = {"type": timetable.spec_type, "assets": encoder.asset(timetable.asset_condition)}
    if own & {"summary", "description"}:
        spec |= {"summary": str(timetable.summary), "description": str(timetable.description or "")}
    if isinstance(timetable, tt.PartitionedAssetTimetable):
        _refuse(timetable, own - _MAPPED)
        return spec | _mappers(timetable, own, encoder, dag)
    if own - _TEXTS:
        # Its runs by time are the author's to say, and so is what a manual run stands for.
        texts = {"summary": str(timetable.summary), "description": str(timetable.description or "")}
        return {**spec, "type": "asset_or_time", **texts, "timetable": _custom(timetable, dag, encoder)}
    if isinstance(timetable, tt.AssetOrTimeSchedule):
        inner = timetable.timetable
        is_own = is_custom(inner)
        spec["timetable"] = (
            _custom(inner, dag, encoder, asked=timetable) if is_own else schedule_spec(inner, encoder, dag)
        )
    return spec


def _mappers(timetable, own: set[str], encoder: Encoder, dag) -> dict:
    if own & {"next_dagrun_info", "next_dagrun_info_v2"}:
        asked = runs_after(timetable, last=None, earliest=dag.start_date, latest=dag.end_date, catchup=False, count=1)
        if asked["runs"]:
            raise RecordingError(
                f"{type(timetable).__name__} gives runs by time, and a schedule by partitions of assets has none",
                "Leave next_dagrun_info() out, or give the runs by time a DAG of their own",
            )
    return {
        "mappers": [
            {"asset": encoder.asset(asset), "mapper": mapper_spec(mapper, encoder.encode)}
            for asset, mapper in timetable.mappers_by_asset()
        ],
        "default_mapper": mapper_spec(timetable.default_partition_mapper, encoder.encode),
    }


def _refuse(timetable, names: set[str]) -> None:
    if not names:
        return
    told = ", ".join(sorted(names))
    raise RecordingError(
        f"{type(timetable).__name__} has its own {told}, and a schedule by assets is not asked for that",
        f"Leave {told} out of the class: what {built_in(timetable).__name__} has counts",
    )


def schedule_spec(timetable, encoder: Encoder, dag) -> dict:
    if isinstance(timetable, tt.AssetTriggeredTimetable):
        return _by_assets(timetable, encoder, dag)
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
        spec["run_immediately"] = _immediately(timetable.run_immediately)
        if not isinstance(timetable, tt.CronPartitionTimetable):
            spec["interval"] = delta(timetable.interval)
    if isinstance(timetable, tt.CronPartitionTimetable):
        spec["run_offset"] = _offset(timetable.run_offset)
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
