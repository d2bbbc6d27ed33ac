"""What `schedule=` may be, and the timetable each form means in Airflow 3.2's default configuration."""

from __future__ import annotations

import datetime
from collections.abc import Collection

from .assets import BaseAsset, condition_from
from .timetables import (
    AssetTriggeredTimetable,
    ContinuousTimetable,
    CronTriggerTimetable,
    DeltaTriggerTimetable,
    NullTimetable,
    OnceTimetable,
    Timetable,
)


def timetable_from_schedule(schedule, timezone: str) -> Timetable:
    if schedule is None:
        return NullTimetable()
    if isinstance(schedule, Timetable):
        return schedule
    if isinstance(schedule, BaseAsset):
        return AssetTriggeredTimetable(schedule)
    if isinstance(schedule, str):
        if schedule == "@once":
            return OnceTimetable()
        if schedule == "@continuous":
            return ContinuousTimetable()
        return CronTriggerTimetable(schedule, timezone=timezone)
    if isinstance(schedule, datetime.timedelta) or type(schedule).__name__ == "relativedelta":
        return DeltaTriggerTimetable(schedule)
    if isinstance(schedule, Collection):
        return AssetTriggeredTimetable(condition_from(schedule))
    raise ValueError(f"{schedule!r} is not a valid schedule.")
