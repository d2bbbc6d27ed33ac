"""Timetables as data. Firing times are computed by the control plane; here the arguments are kept, and what an author's subclass
asks of the class it inherits is answered (built_in_timetables/). What few DAGs use is loaded when it is: every pod loads this
file."""

from __future__ import annotations

import datetime
from typing import Any

from ..exceptions import AirflowTimetableInvalid
from .assets import AssetAlias, condition_from
from .timetable_base import Computed, DagRunInfo, DataInterval, TimeRestriction, Timetable
from .timezones import to_utc, zone_name

_ZERO = datetime.timedelta(0)

__all__ = ["DagRunInfo", "DataInterval", "TimeRestriction", "Timetable"]  # authors import them from here, too


class _BuiltIn(Timetable):
    """One that can be asked: `_next` and `_manual` have what it answers, in UTC."""

    def next_dagrun_info(self, *, last_automated_data_interval, restriction) -> DagRunInfo | None:
        from .built_in_timetables.runs import Query, clock, moment, plain

        last = last_automated_data_interval
        found = self._next(
            Query(
                last=None if last is None else DataInterval(plain(last.start), plain(last.end)),
                earliest=plain(restriction.earliest),
                latest=plain(restriction.latest),
                catchup=restriction.catchup,
                now=clock(),
            )
        )
        return None if found is None else DagRunInfo.interval(moment(found.start), moment(found.end))

    def infer_manual_data_interval(self, *, run_after) -> DataInterval:
        from .built_in_timetables.runs import moment, plain

        found = self._manual(plain(run_after))
        return DataInterval(moment(found.start), moment(found.end))

    def _next(self, query) -> DataInterval | None:
        return None

    def _manual(self, run_after) -> DataInterval:
        return DataInterval.exact(run_after)


class NullTimetable(_BuiltIn):
    spec_type = "null"
    can_be_scheduled = False
    periodic = False
    summary = "None"
    description = "Never, external triggers only"


class PartitionedAtRuntime(NullTimetable):
    """The tasks of a run name the partitions: `outlet_events[asset].add_partitions(keys)`."""

    partitioned_at_runtime = True


class OnceTimetable(_BuiltIn):
    spec_type = "once"
    periodic = False
    summary = "@once"
    description = "Once, as soon as possible"

    def _next(self, query):
        from .built_in_timetables.runs import next_once

        return next_once(query)


class ContinuousTimetable(_BuiltIn):
    spec_type = "continuous"
    active_runs_limit = 1
    periodic = False
    summary = "@continuous"
    description = "As frequently as possible, but only one run at a time."

    def _next(self, query):
        from .built_in_timetables.runs import next_continuous

        return next_continuous(query)


class _Cron(_BuiltIn):
    def __init__(self, expression, timezone) -> None:
        from .built_in_timetables.cron_expression import check_cron

        self.expression = check_cron(expression)
        self.timezone = zone_name(timezone)

    def _schedule(self):
        from .built_in_timetables.cron_schedule import CronSchedule

        return CronSchedule(self.expression, self.timezone)

    @property
    def summary(self) -> str:
        return _resolved(self.expression)

    description: Any = Computed(lambda self: _described(self.expression))


def _resolved(expression: str) -> str:
    from .built_in_timetables.cron_expression import resolve_preset

    return resolve_preset(expression)


def _described(expression: str) -> str:
    from .built_in_timetables.cron_description import cron_description

    return cron_description(_resolved(expression))


class CronDataIntervalTimetable(_Cron):
    spec_type = "cron_data_interval"

    def __init__(self, cron: str | None = None, timezone="UTC", *, expression: str | None = None) -> None:
        super().__init__(cron if cron is not None else expression, timezone)

    def _next(self, query):
        from .built_in_timetables import runs

        schedule = self._schedule()
        return runs.next_interval(schedule, lambda now: runs.latest_complete_cron(schedule, now), query)

    def _manual(self, run_after):
        from .built_in_timetables.runs import manual_cron_interval

        return manual_cron_interval(self._schedule(), run_after)


class CronTriggerTimetable(_Cron):
    spec_type = "cron_trigger"

    def __init__(self, cron=None, timezone="UTC", *, expression=None, interval=_ZERO, run_immediately=False) -> None:
        super().__init__(cron if cron is not None else expression, timezone)
        self.interval = interval
        self.run_immediately = run_immediately

    def _next(self, query):
        return _cron_trigger(self._schedule(), self, query)

    def _manual(self, run_after):
        return DataInterval(run_after - self.interval, run_after)


def _cron_trigger(schedule, timetable, query):
    from .built_in_timetables import runs

    def first_run(now):
        return runs.first_cron_run(schedule, timetable.run_immediately, now)

    return runs.next_trigger(schedule, timetable.interval, first_run, query)


class MultipleCronTriggerTimetable(_BuiltIn):
    spec_type = "multiple_cron_trigger"

    def __init__(self, *crons: str, timezone, interval=_ZERO, run_immediately=False) -> None:
        from .built_in_timetables.cron_expression import check_cron

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
        return ", ".join(map(_resolved, self.expressions))

    description: Any = Computed(lambda self: ", ".join(map(_described, self.expressions)))

    def _next(self, query):
        from .built_in_timetables.cron_schedule import CronSchedule
        from .built_in_timetables.runs import pick_run

        schedules = [CronSchedule(expression, self.timezone) for expression in self.expressions]
        return pick_run([_cron_trigger(schedule, self, query) for schedule in schedules], query)

    def _manual(self, run_after):
        return DataInterval(run_after - self.interval, run_after)


class CronPartitionTimetable(CronTriggerTimetable):
    spec_type = "cron_partition"
    partitioned = True

    def __init__(
        self, cron: str, *, timezone, run_offset=None, run_immediately=False, key_format="%Y-%m-%dT%H:%M:%S"
    ) -> None:
        super().__init__(cron, timezone, run_immediately=run_immediately)
        self.run_offset = run_offset
        self.key_format = key_format

    def next_dagrun_info_v2(self, *, last_dagrun_info, restriction) -> DagRunInfo | None:
        """A run at each point of the schedule, for the partition of that point or of one beside it: with a key, without dates."""
        from .built_in_timetables.runs import moment, partition_date, plain

        last = None if last_dagrun_info is None else DataInterval.exact(last_dagrun_info.run_after)
        # Not the author's: Airflow does not ask that one here either.
        info = CronTriggerTimetable.next_dagrun_info(self, last_automated_data_interval=last, restriction=restriction)
        if info is None:
            return None
        date = moment(partition_date(self._schedule(), self.run_offset, plain(info.run_after)))
        return DagRunInfo(
            run_after=info.run_after,
            data_interval=None,
            partition_date=date,
            partition_key=date.strftime(self.key_format),
        )

    def generate_run_id(self, *, run_type, run_after, data_interval=None, partition_key=None, **extra) -> str:
        """With the key, and with chance: nothing else keeps two runs of a partition apart."""
        import secrets

        plain = super().generate_run_id(run_type=run_type, run_after=run_after, data_interval=data_interval, **extra)
        return "__".join([plain, *([partition_key] if partition_key else []), secrets.token_hex(4)])


class _Delta(_BuiltIn):
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

    def _next(self, query):
        from .built_in_timetables import runs

        schedule = runs.DeltaSchedule(self.delta)
        return runs.next_interval(schedule, lambda now: runs.latest_complete_delta(self.delta, now), query)

    def _manual(self, run_after):
        return DataInterval(run_after - self.delta, run_after)


class DeltaTriggerTimetable(_Delta):
    spec_type = "delta_trigger"

    def __init__(self, delta, *, interval=_ZERO) -> None:
        super().__init__(delta)
        self.interval = interval

    def _next(self, query):
        from .built_in_timetables import runs

        return runs.next_trigger(runs.DeltaSchedule(self.delta), self.interval, lambda now: now, query)

    def _manual(self, run_after):
        return DataInterval(run_after - self.interval, run_after)


class EventsTimetable(_BuiltIn):
    spec_type = "events"

    def __init__(self, event_dates, *, restrict_to_events=False, presorted=False, description=None) -> None:
        # The offset an author wrote is kept: it decides how the date is shown.
        dates = [date if date.tzinfo is not None else to_utc(date) for date in event_dates]
        self.event_dates = dates if presorted else sorted(dates)
        self.restrict_to_events = restrict_to_events
        self.presorted = presorted
        self.given_description = description

    description: Any = Computed(lambda self: self.given_description or _events_text(self.event_dates))

    @property
    def summary(self) -> str:
        return self.given_description or f"{len(self.event_dates)} events"

    def _next(self, query):
        from .built_in_timetables.runs import next_event

        return next_event([to_utc(date) for date in self.event_dates], query)

    def _manual(self, run_after):
        from .built_in_timetables.runs import manual_event

        if not self.restrict_to_events or not self.event_dates:
            return DataInterval.exact(run_after)
        return manual_event([to_utc(date) for date in self.event_dates], run_after)


def _events_text(dates: list) -> str:
    return f"{len(dates)} events between {dates[0].isoformat()} and {dates[-1].isoformat()}" if dates else "No events"


class AssetTriggeredTimetable(_BuiltIn):
    """No runs by time; a manual one stands for its moment."""

    spec_type: str | None = "asset"
    description = "Triggered by assets"
    periodic = False
    run_ordering = ("logical_date",)

    def __init__(self, assets) -> None:
        self._condition = condition_from(assets)

    @property
    def asset_condition(self):
        return self._condition

    @property
    def summary(self) -> str:
        return "Asset"


class AssetOrTimeSchedule(AssetTriggeredTimetable):
    """What it is asked about time it asks its timetable, in Airflow's older words: runs have dates, whatever the timetable makes."""

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

    description: Any = Computed(lambda self: f"Triggered by assets or {self.timetable.description}")
    periodic: Any = Computed(lambda self: self.timetable.periodic)
    can_be_scheduled: Any = Computed(lambda self: self.timetable.can_be_scheduled)
    active_runs_limit: Any = Computed(lambda self: self.timetable.active_runs_limit)

    def validate(self) -> None:
        self.timetable.validate()

    def next_dagrun_info(self, *, last_automated_data_interval, restriction) -> DagRunInfo | None:
        return self.timetable.next_dagrun_info(
            last_automated_data_interval=last_automated_data_interval, restriction=restriction
        )

    def infer_manual_data_interval(self, *, run_after) -> DataInterval:
        return self.timetable.infer_manual_data_interval(run_after=run_after)

    def generate_run_id(self, *, run_type, **facts) -> str:
        if getattr(run_type, "value", run_type) == "asset_triggered":
            return super().generate_run_id(run_type=run_type, **facts)
        return self.timetable.generate_run_id(run_type=run_type, **facts)


class DatasetOrTimeSchedule(AssetOrTimeSchedule):
    def __init__(self, *, timetable: Timetable, datasets) -> None:
        super().__init__(timetable=timetable, assets=datasets)


class PartitionedAssetTimetable(AssetTriggeredTimetable):
    spec_type = "partitioned_asset"
    partitioned = True

    def __init__(self, assets, partition_mapper_config=None, default_partition_mapper=None) -> None:
        from .partition_mappers import IdentityMapper

        super().__init__(assets)
        self.partition_mapper_config = dict(partition_mapper_config or {})
        self.default_partition_mapper = default_partition_mapper or IdentityMapper()

    @property
    def summary(self) -> str:
        return "Partitioned Asset"

    def get_partition_mapper(self, *, name: str = "", uri: str = ""):
        """The one that is configured for the asset of that name or URI, or the default."""
        for named, mapper in self.partition_mapper_config.items():
            for leaf in named.iter_leaves():
                if (name and getattr(leaf, "name", "") == name) or (uri and getattr(leaf, "uri", "") == uri):
                    return mapper
        return self.default_partition_mapper

    def mappers_by_asset(self) -> list:
        """As the control plane looks them up. What an author's class says of its assets it says once, when it is compiled."""
        if type(self).get_partition_mapper is PartitionedAssetTimetable.get_partition_mapper:
            return list(self.partition_mapper_config.items())
        leaves = [leaf for leaf in self.asset_condition.iter_leaves() if not isinstance(leaf, AssetAlias)]
        return [
            (leaf, self.get_partition_mapper(name=getattr(leaf, "name", ""), uri=getattr(leaf, "uri", "")))
            for leaf in leaves
        ]
