"""What Airflow 3.2.2 answers about a timetable, as data: specs made into its timetables, and their answers into series.

Imported before anything of Airflow: its settings and the zone rules are set here.
"""

from __future__ import annotations

import os
import sys
import warnings
import zoneinfo
from datetime import datetime, timedelta, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "packages" / "spec" / "timetables" / "golden"
os.environ.setdefault("AIRFLOW_HOME", str(Path(sys.prefix) / "home"))
os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"
warnings.simplefilter("ignore")
zoneinfo.reset_tzpath(to=())

import pendulum  # noqa: E402
import time_machine  # noqa: E402
from airflow.sdk import DAG  # noqa: E402
from airflow.serialization.serialized_objects import DagSerialization  # noqa: E402
from airflow.timetables.assets import AssetOrTimeSchedule  # noqa: E402
from airflow.timetables.base import DataInterval, TimeRestriction  # noqa: E402
from airflow.timetables.events import EventsTimetable  # noqa: E402
from airflow.timetables.interval import CronDataIntervalTimetable, DeltaDataIntervalTimetable  # noqa: E402
from airflow.timetables.simple import (  # noqa: E402
    AssetTriggeredTimetable,
    ContinuousTimetable,
    NullTimetable,
    OnceTimetable,
)
from airflow.timetables.trigger import (  # noqa: E402
    CronTriggerTimetable,
    DeltaTriggerTimetable,
    MultipleCronTriggerTimetable,
)
from dateutil.relativedelta import relativedelta, weekday  # noqa: E402

UTC = timezone.utc
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CHAIN = 12


def micros(at: datetime) -> int:
    at = pendulum.instance(at)
    return at.int_timestamp * 1_000_000 + at.microsecond


def in_seconds(micros: int) -> float | int:
    return micros // 1_000_000 if micros % 1_000_000 == 0 else micros / 1_000_000


def seconds(at: datetime) -> float | int:
    return in_seconds(micros(at))


def dt(at: float | int | None) -> pendulum.DateTime | None:
    return None if at is None else pendulum.instance(EPOCH + timedelta(microseconds=round(at * 1_000_000)), tz="UTC")


def delta_spec(delta: timedelta | relativedelta) -> dict:
    if isinstance(delta, timedelta):
        parts = {"days": delta.days, "seconds": delta.seconds, "microseconds": delta.microseconds}
        return {"kind": "timedelta", **{k: v for k, v in parts.items() if v}}
    spec: dict = {"kind": "relativedelta"}
    for plural in ("years", "months", "days", "leapdays", "hours", "minutes", "seconds", "microseconds"):
        if getattr(delta, plural):
            spec[plural] = getattr(delta, plural)
    for singular in ("year", "month", "day", "hour", "minute", "second", "microsecond"):
        if getattr(delta, singular) is not None:
            spec[singular] = getattr(delta, singular)
    if delta.weekday is not None:
        spec["weekday"] = [delta.weekday.weekday] + ([delta.weekday.n] if delta.weekday.n else [])
    return spec


def delta_of(spec: dict) -> timedelta | relativedelta:
    fields = {k: v for k, v in spec.items() if k != "kind"}
    if spec["kind"] == "timedelta":
        return timedelta(**fields)
    if "weekday" in fields:
        fields["weekday"] = weekday(*fields["weekday"])
    return relativedelta(**fields)


def zone(name: str):
    return pendulum.timezone(int(name[:3]) * 3600 + int(name[0] + name[4:]) * 60) if name[0] in "+-" else pendulum.timezone(name)


def timetable(spec: dict):
    """The Airflow object that a spec stands for."""
    kind = spec["type"]
    options = {}
    if "interval" in spec:
        options["interval"] = delta_of(spec["interval"])
    if "run_immediately" in spec:
        now = spec["run_immediately"]
        options["run_immediately"] = now if isinstance(now, bool) else delta_of(now)
    if kind == "cron_trigger":
        return CronTriggerTimetable(spec["expression"], timezone=zone(spec["timezone"]), **options)
    if kind == "multiple_cron_trigger":
        return MultipleCronTriggerTimetable(*spec["expressions"], timezone=zone(spec["timezone"]), **options)
    if kind == "cron_data_interval":
        return CronDataIntervalTimetable(spec["expression"], timezone=zone(spec["timezone"]))
    if kind == "delta_trigger":
        return DeltaTriggerTimetable(delta_of(spec["delta"]), **options)
    if kind == "delta_data_interval":
        return DeltaDataIntervalTimetable(delta_of(spec["delta"]))
    if kind == "events":
        dates = [pendulum.parse(text) for text in spec["event_dates"]]
        return EventsTimetable(dates, **{k: v for k, v in spec.items() if k not in ("type", "event_dates")})
    if kind == "asset_or_time":
        return AssetOrTimeSchedule(timetable=timetable(spec["timetable"]), assets=[])
    simple = {"null": NullTimetable, "once": OnceTimetable, "continuous": ContinuousTimetable}
    return AssetTriggeredTimetable([]) if kind == "asset" else simple[kind]()


def chain(spec: dict, *, now, catchup: bool, earliest=None, latest=None, last=None, count: int = CHAIN) -> dict:
    """Up to `count` runs, each asked for with the one before as the last."""
    series = {"t": spec, "now": now, "catchup": catchup, "from": earliest, "to": latest}
    if last is not None:
        series["last"] = last
    if count != CHAIN:
        series["asked"] = count
    table = timetable(spec)
    restriction = TimeRestriction(earliest=dt(earliest), latest=dt(latest), catchup=catchup)
    previous = None if last is None else DataInterval(dt(last[0]), dt(last[1]))
    intervals = []
    with time_machine.travel(dt(now), tick=False):
        for _ in range(count):
            try:
                info = table.next_dagrun_info(last_automated_data_interval=previous, restriction=restriction)
            except Exception as error:  # noqa: BLE001
                series["raises"] = str(error) or type(error).__name__
                break
            if info is None:
                break
            # What the format leaves out must be what it says it is.
            assert info.run_after == info.data_interval.end and info.logical_date == info.data_interval.start
            previous = info.data_interval
            intervals.append(previous)
    return series | encode(intervals)


def encode(intervals: list[DataInterval]) -> dict:
    ends = [micros(interval.end) for interval in intervals]
    widths = [in_seconds(micros(interval.end) - micros(interval.start)) for interval in intervals]
    return {
        "end": [in_seconds(end - before) for before, end in zip([0, *ends], ends)],
        "width": widths[0] if len(set(widths)) == 1 else widths,
    }


def manual(spec: dict, moments: list) -> dict:
    table = timetable(spec)
    intervals = []
    for moment in moments:
        try:
            interval = table.infer_manual_data_interval(run_after=dt(moment))
        except Exception:  # noqa: BLE001
            intervals.append(None)
            continue
        intervals.append([seconds(interval.start), seconds(interval.end)])
    return {"t": spec, "manual": moments, "intervals": intervals}


def backfill(spec: dict, *, now, earliest, latest) -> dict:
    """What Airflow's own backfill walks over; the spec is placed into a DAG for that."""
    dag = DagSerialization.from_dict(DagSerialization.to_dict(DAG("golden", schedule=None)))
    dag.timetable = timetable(spec)
    with time_machine.travel(dt(now), tick=False):
        infos = []
        for info in dag.iter_dagrun_infos_between(dt(earliest), dt(latest)):
            infos.append(info.data_interval)
            if len(infos) == 40:
                break
    return {"t": spec, "now": now, "backfill": [earliest, latest]} | encode(infos)


def texts_of(spec: dict) -> dict:
    table = timetable(spec)
    return {"t": spec, "summary": table.summary, "description": table.description}
