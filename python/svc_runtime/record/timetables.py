"""Timetables as data. Firing times are computed by the control plane; here only the arguments are kept."""

from __future__ import annotations

import datetime

from ..exceptions import AirflowTimetableInvalid
from .assets import condition_from
from .cron_text import check_cron
from .partition_mappers import IdentityMapper
from .timetable_base import DagRunInfo, DataInterval, TimeRestriction, Timetable
from .timezones import to_utc, zone_name

_ZERO = datetime.timedelta(0)

__all__ = ["DagRunInfo", "DataInterval", "TimeRestriction", "Timetable"]  # authors import them from here, too


class NullTimetable(Timetable):
    spec_type = "null"
    can_be_scheduled = False


class OnceTimetable(Timetable):
    spec_type = "once"


class ContinuousTimetable(Timetable):
    spec_type = "continuous"
    active_runs_limit = 1


class _Cron(Timetable):
    def __init__(self, expression, timezone) -> None:
        self.expression = check_cron(expression)
        self.timezone = zone_name(timezone)

    @property
    def summary(self) -> str:
        return self.expression


class CronDataIntervalTimetable(_Cron):
    spec_type = "cron_data_interval"

    def __init__(self, cron: str | None = None, timezone="UTC", *, expression: str | None = None) -> None:
        super().__init__(cron if cron is not None else expression, timezone)


class CronTriggerTimetable(_Cron):
    spec_type = "cron_trigger"

    def __init__(self, cron=None, timezone="UTC", *, expression=None, interval=_ZERO, run_immediately=False) -> None:
        super().__init__(cron if cron is not None else expression, timezone)
        self.interval = interval
        self.run_immediately = run_immediately


class MultipleCronTriggerTimetable(Timetable):
    spec_type = "multiple_cron_trigger"

    def __init__(self, *crons: str, timezone, interval=_ZERO, run_immediately=False) -> None:
        if not crons:
            raise ValueError("cron expression required")
        for cron in crons:
            check_cron(cron)
        self.expressions = list(crons)
        self.timezone = zone_name(timezone)
        self.interval = interval
        self.run_immediately = run_immediately

    @property
    def summary(self) -> str:
        return ", ".join(self.expressions)


class CronPartitionTimetable(_Cron):
    spec_type = "cron_partition"
    partitioned = True

    def __init__(
        self, cron: str, *, timezone, run_offset=None, run_immediately=False, key_format="%Y-%m-%dT%H:%M:%S"
    ) -> None:
        super().__init__(cron, timezone)
        self.run_offset = run_offset
        self.run_immediately = run_immediately
        self.key_format = key_format


class _Delta(Timetable):
    def __init__(self, delta) -> None:
        zero = not delta if not isinstance(delta, datetime.timedelta) else delta <= _ZERO
        if zero:
            raise AirflowTimetableInvalid(f"schedule interval must be positive, not {delta!r}")
        self.delta = delta

    @property
    def summary(self) -> str:
        return str(self.delta)


class DeltaDataIntervalTimetable(_Delta):
    spec_type = "delta_data_interval"


class DeltaTriggerTimetable(_Delta):
    spec_type = "delta_trigger"

    def __init__(self, delta, *, interval=_ZERO) -> None:
        super().__init__(delta)
        self.interval = interval


class EventsTimetable(Timetable):
    spec_type = "events"

    def __init__(self, event_dates, *, restrict_to_events=False, presorted=False, description=None) -> None:
        # The offset an author wrote is kept: it decides how the date is shown.
        dates = [date if date.tzinfo is not None else to_utc(date) for date in event_dates]
        self.event_dates = dates if presorted else sorted(dates)
        self.restrict_to_events = restrict_to_events
        self.presorted = presorted
        self.given_description = description
        self.description = description or (
            f"{len(self.event_dates)} events between {self.event_dates[0]} and {self.event_dates[-1]}"
            if self.event_dates
            else "No events"
        )

    @property
    def summary(self) -> str:
        return self.description


class AssetTriggeredTimetable(Timetable):
    spec_type: str | None = "asset"

    def __init__(self, assets) -> None:
        self._condition = condition_from(assets)

    @property
    def asset_condition(self):
        return self._condition

    @property
    def summary(self) -> str:
        return "Asset"


class AssetOrTimeSchedule(AssetTriggeredTimetable):
    spec_type = "asset_or_time"

    def __init__(self, *, timetable: Timetable, assets) -> None:
        super().__init__(assets)
        if not isinstance(timetable, Timetable):
            raise AirflowTimetableInvalid(
                f"AssetOrTimeSchedule needs a timetable object, not {type(timetable).__name__}; "
                'write for example CronTriggerTimetable("0 1 * * *", timezone="UTC")'
            )
        self.timetable = timetable

    @property
    def summary(self) -> str:
        return f"Asset or {self.timetable.summary}"


class DatasetOrTimeSchedule(AssetOrTimeSchedule):
    def __init__(self, *, timetable: Timetable, datasets) -> None:
        super().__init__(timetable=timetable, assets=datasets)


class PartitionedAssetTimetable(AssetTriggeredTimetable):
    spec_type = "partitioned_asset"
    partitioned = True

    def __init__(self, assets, partition_mapper_config=None, default_partition_mapper=None) -> None:
        super().__init__(assets)
        self.partition_mapper_config = dict(partition_mapper_config or {})
        self.default_partition_mapper = default_partition_mapper or IdentityMapper()
