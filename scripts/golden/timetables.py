"""Writes packages/spec/timetables/golden/: what Airflow 3.2.2 itself answers, for the timetable tests to agree with.

    node packages/testing/airflow/install-airflow.ts
    .cache/airflow-3.2.2/bin/python scripts/golden/timetables.py

Only public behaviour is recorded (next_dagrun_info, infer_manual_data_interval, iter_dagrun_infos_between, validate, summary,
description), with the clock stopped. The output is the same on every run: cases are drawn with a fixed seed and zone rules come
from the pinned tzdata package, not from the machine.

One JSON file per timetable type. A series is one line:
    {"t": spec, "now": s, "catchup": bool, "from": s|null, "to": s|null, "last": [s, s]?, "asked": n?, "end": [first, step, ...], "width": w|[...]}
Times are seconds since 1970 (with decimals where Airflow has microseconds); `end` holds the first run's data interval end and
then the distances to the following ones, `width` the lengths of the data intervals. "raises" marks where Airflow raised instead,
"invalid" an expression it does not take.
"""

from __future__ import annotations

import json
import os
import random
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
rng = random.Random(20260601)

ZONES = [
    "UTC",
    "America/New_York",
    "Europe/London",
    "Europe/Paris",
    "Australia/Lord_Howe",  # half an hour of summer time
    "Asia/Kathmandu",  # +05:45, no changes
    "Pacific/Apia",  # skipped a day in 2011
    "America/Sao_Paulo",  # changed at midnight
    "Africa/Casablanca",  # back for Ramadan
    "Antarctica/Troll",  # two hours of summer time
    "Pacific/Chatham",  # +12:45
    "Asia/Tehran",  # changed at midnight, by another calendar
    "America/Havana",  # changes at midnight and at one
    "Asia/Gaza",  # changes twice within a week in some years
    "+05:30",
]

DAILY = ["0 0 * * *", "30 1 * * *", "0 2 * * *", "30 2 * * *", "15 3 * * *", "59 23 * * *", "0 1,2,3 * * *", "@daily", "45 0 * * *"]
HOURLY = ["0 * * * *", "30 * * * *", "*/15 * * * *", "* * * * *", "@hourly", "7 */1 * * *", "0 0-23 * * *", "5,35 * * * *"]
PARTIAL = ["0 */2 * * *", "*/20 0-3 * * *", "30 1-3 * * *", "0 */6 * * *", "15 22-2 * * *", "*/30 2 * * *", "0 *,5 * * *", "10 0-12/3 * * *"]
WEEKLY = ["@weekly", "0 6 * * mon-fri", "30 2 * * sun", "0 0 * * 7", "0 12 * * 1,3,5", "0 3 * * 6-1", "0 4 * * */2"]
MONTHLY = ["@monthly", "@quarterly", "0 0 L * *", "0 0 * * 5#2", "30 2 * * L0", "0 9 15W * *", "0 0 31 * *", "0 0 1 */3 *", "0 7 1,L * *"]
MIXED = ["0 0 13 * 5", "30 2 */10 * 0", "0 0 1-7 * mon", "0 * 1 * *", "*/10 * 29 2 *", "0 0 29 2 *", "0 5 ? * 3"]
YEARLY = ["@yearly", "@annually", "0 0 29 2 *", "59 23 31 12 *", "0 0 1 1 0"]
SECONDS = ["* * * * * */20", "30 2 * * * 15", "0 0 * * * 30", "0 * * * * 5,35", "0 0 1 * * 0 *", "*/30 1-3 * * * 59"]
EXPRESSIONS = DAILY + HOURLY + PARTIAL + WEEKLY + MONTHLY + MIXED + YEARLY + SECONDS

TIMEDELTAS = [
    timedelta(days=1),
    timedelta(hours=1),
    timedelta(minutes=37),
    timedelta(days=7),
    timedelta(days=30, hours=5),
    timedelta(seconds=90, microseconds=250),
    timedelta(microseconds=333_333),
    timedelta(hours=5, microseconds=3),
]
RELATIVEDELTAS = [
    relativedelta(months=1),
    relativedelta(years=1),
    relativedelta(weeks=2),
    relativedelta(months=1, days=-1),
    relativedelta(months=1, day=31),
    relativedelta(months=3, day=1, hour=6, minute=0, second=0, microsecond=0),
    relativedelta(days=1, weekday=weekday(4)),
    relativedelta(months=1, day=1, weekday=weekday(0, 2)),
    relativedelta(months=1, day=31, weekday=weekday(4, -1)),
    relativedelta(years=1, months=1, days=1, hours=1, minutes=1, seconds=1, microseconds=1),
    relativedelta(hours=37, minutes=90),
    relativedelta(years=1, leapdays=1),
    relativedelta(minutes=15),
]


# --- data <-> Airflow -------------------------------------------------------------------------------------------------


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


# --- recording --------------------------------------------------------------------------------------------------------


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


# --- cases ------------------------------------------------------------------------------------------------------------


def changes(name: str, years: range) -> list[datetime]:
    """When the zone's offset changes, to the second."""
    if name[0] in "+-":
        return []
    info = zoneinfo.ZoneInfo(name)
    found, step = [], timedelta(days=2)
    at, end = datetime(years.start, 1, 1, tzinfo=UTC), datetime(years.stop, 1, 1, tzinfo=UTC)
    while at < end:
        low, high = at, at + step
        if low.astimezone(info).utcoffset() != high.astimezone(info).utcoffset():
            while high - low > timedelta(seconds=1):
                middle = low + (high - low) // 2
                middle = middle.replace(microsecond=0)
                if middle.astimezone(info).utcoffset() == low.astimezone(info).utcoffset():
                    low = middle
                else:
                    high = middle
            found.append(high)
        at += step
    return found


CALENDAR_EDGES = [
    datetime(2024, 2, 28, 22, 30, tzinfo=UTC),
    datetime(2028, 2, 29, 12, 0, tzinfo=UTC),
    datetime(2025, 12, 31, 23, 59, 30, tzinfo=UTC),
    datetime(2026, 1, 1, tzinfo=UTC),
    datetime(2026, 6, 10, 10, 20, 30, 123456, tzinfo=UTC),
    datetime(2099, 12, 31, 12, tzinfo=UTC),
    datetime(2100, 2, 27, tzinfo=UTC),
]


def moments(name: str) -> list:
    """Around every kind of clock change the zone has had since 2010, and where the calendar is odd."""
    all_changes = changes(name, range(2010, 2012)) + changes(name, range(2017, 2031))
    around = [
        change + timedelta(minutes=rng.choice([-1500, -180, -90, -61, -60, -45, -30, -15, -1, 0, 1, 29, 30, 60, 61, 90, 240]))
        for change in rng.sample(all_changes, min(len(all_changes), 24))
    ]
    odd = [at + timedelta(microseconds=rng.choice([0, 0, 1, 999_999])) for at in around]
    return [seconds(at) for at in odd + CALENDAR_EDGES]


def random_expression() -> str:
    def field(low: int, high: int) -> str:
        kind = rng.random()
        a, b = sorted((rng.randint(low, high), rng.randint(low, high)))
        if kind < 0.35:
            return "*"
        if kind < 0.6:
            return str(a)
        if kind < 0.75:
            return f"*/{rng.choice([2, 3, 5, 7, 12])}"
        if kind < 0.9 and a != b:
            return f"{a}-{b}"
        return f"{a},{b}"

    return " ".join([field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6)])


def bounds(start) -> dict:
    """Start and end dates relative to a moment, in the combinations that decide something."""
    kind = rng.random()
    if kind < 0.7:
        return {"earliest": start}
    if kind < 0.85:
        return {"earliest": start, "latest": start + rng.choice([3600, 86_400, 5 * 86_400])}
    return {}


def cron_series(make, expressions: list[str], per_pair: int) -> list[dict]:
    found = []
    for name in ZONES:
        starts = moments(name)
        for expression in expressions:
            for start in rng.sample(starts, min(per_pair, len(starts))):
                catchup = rng.random() < 0.6
                now = start + rng.choice([0, 60, 3600, 86_400, 30 * 86_400])
                spec = make(expression, name)
                found.append(chain(spec, now=now, catchup=catchup, **bounds(start)))
        for _ in range(12):
            start = rng.choice(starts)
            found.append(chain(make(random_expression(), name), now=start, catchup=rng.random() < 0.5, **bounds(start)))
        sample = make(rng.choice(expressions), name)
        last = rng.choice(starts)
        found.append(chain(sample, now=last, catchup=False, last=[last - 7200, last - 3600], earliest=last - 86_400))
        found.append(chain(sample, now=last, catchup=True, last=[last - 7200, last + 1800.5]))
        for expression in rng.sample(expressions, 6):
            found.append(manual(make(expression, name), rng.sample(starts, min(6, len(starts)))))
    return found


def cron_trigger() -> list[dict]:
    intervals = [None, None, None, timedelta(days=1), timedelta(hours=3), relativedelta(months=1)]
    immediately = [None, None, False, True, timedelta(minutes=10), timedelta(hours=30)]

    def make(expression: str, name: str) -> dict:
        spec = {"type": "cron_trigger", "expression": expression, "timezone": name}
        if interval := rng.choice(intervals):
            spec["interval"] = delta_spec(interval)
        if (now := rng.choice(immediately)) is not None:
            spec["run_immediately"] = now if isinstance(now, bool) else delta_spec(now)
        return spec

    return cron_series(make, EXPRESSIONS, 2) + first_runs(make) + backfills(make)


def first_runs(make) -> list[dict]:
    """No start date, no runs yet: what is made up for and what is waited for, on both sides of every limit."""
    found = []
    for expression in ["0 * * * *", "0 0 * * *", "15 */2 * * *", "0 0 1 * *", "*/5 * * * *"]:
        for late in [0, 1, 60, 299, 300, 301, 359, 360, 361, 719, 720, 721, 7000, 8640, 8641, 90_000]:
            spec = make(expression, "UTC")
            now = 1_781_049_600 + late + rng.choice([0, 0, 0.000001, 0.5])
            found.append(chain(spec, now=now, catchup=rng.random() < 0.5, count=3))
    return found


def backfills(make) -> list[dict]:
    found = []
    for name in ZONES:
        for expression in ["0 */6 * * *", "30 2 * * *", "@weekly", "0 0 1 * *"]:
            start = rng.choice(moments(name))
            found.append(backfill(make(expression, name), now=start, earliest=start, latest=start + rng.choice([86_400, 40 * 86_400])))
    return found


def cron_data_interval() -> list[dict]:
    def make(expression: str, name: str) -> dict:
        return {"type": "cron_data_interval", "expression": expression, "timezone": name}

    return cron_series(make, EXPRESSIONS, 2) + backfills(make)


def multiple_cron_trigger() -> list[dict]:
    def make(expression: str, name: str) -> dict:
        others = rng.sample(EXPRESSIONS, rng.choice([0, 1, 1, 2]))
        spec = {"type": "multiple_cron_trigger", "expressions": [expression, *others], "timezone": name}
        if rng.random() < 0.3:
            spec["interval"] = delta_spec(rng.choice([timedelta(days=1), relativedelta(months=1)]))
        if rng.random() < 0.3:
            spec["run_immediately"] = rng.choice([True, False, delta_spec(timedelta(minutes=45))])
        return spec

    return cron_series(make, rng.sample(EXPRESSIONS, 24), 1) + first_runs(make)


def delta_series(make) -> list[dict]:
    found = []
    starts = moments("America/New_York") + moments("UTC")
    for delta in TIMEDELTAS + RELATIVEDELTAS:
        for _ in range(14):
            start = rng.choice(starts)
            now = start + rng.choice([0, 1, 3600.25, 86_400, 400 * 86_400])
            spec = make(delta)
            last = rng.choice([None, None, [start - 3600, start], [start + 50, start + 86_450]])
            found.append(chain(spec, now=now, catchup=rng.random() < 0.5, last=last, **bounds(start)))
        found.append(manual(make(delta), rng.sample(starts, 8)))
        found.append(backfill(make(delta), now=start, earliest=start, latest=start + 100_000))
    return found


def delta_trigger() -> list[dict]:
    def make(delta) -> dict:
        spec = {"type": "delta_trigger", "delta": delta_spec(delta)}
        if rng.random() < 0.4:
            spec["interval"] = delta_spec(rng.choice([timedelta(hours=1), timedelta(microseconds=7), relativedelta(months=1)]))
        return spec

    return delta_series(make)


def delta_data_interval() -> list[dict]:
    return delta_series(lambda delta: {"type": "delta_data_interval", "delta": delta_spec(delta)})


def events() -> list[dict]:
    found = []
    for _ in range(120):
        base = rng.choice(moments("Europe/Paris"))
        texts = []
        for _ in range(rng.choice([0, 1, 2, 5, 20])):
            at = dt(base + rng.choice([-9, -1, 0, 1, 2, 3, 30, 400]) * 86_400 + rng.choice([0, 0, 3600, 0.5]))
            texts.append(at.in_timezone(rng.choice(["UTC", "Europe/Paris", "Asia/Kathmandu"])).isoformat())
        spec = {"type": "events", "event_dates": texts}
        if rng.random() < 0.4:
            spec["restrict_to_events"] = True
        if rng.random() < 0.2:
            spec["presorted"] = True
        if rng.random() < 0.2:
            spec["description"] = "Quarter ends"
        last = rng.choice([None, [base, base]])
        found.append(chain(spec, now=base + rng.choice([-86_400, 0, 86_400]), catchup=rng.random() < 0.5, last=last, **bounds(base)))
        found.append(manual(spec, [base, base - 86_400, base + 3600, base - 900 * 86_400]))
        found.append(texts_of(spec))
    return found


def simple() -> list[dict]:
    found = []
    for kind in ["null", "once", "continuous", "asset"]:
        spec = {"type": kind} | ({"assets": {"type": "asset_all", "objects": []}} if kind == "asset" else {})
        for start in moments("UTC") + moments("Europe/London"):
            for last in [None, [start - 60, start], [start - 60, start + 7200.5]]:
                now = start + rng.choice([0, 3600, -3600])
                found.append(chain(spec, now=now, catchup=rng.random() < 0.5, last=last, count=2, **bounds(start)))
        found.append(manual(spec, moments("UTC")))
        found.append(texts_of(spec))
    return found


def asset_or_time() -> list[dict]:
    found = []
    inner = [
        {"type": "cron_trigger", "expression": "0 9 * * mon-fri", "timezone": "America/New_York"},
        {"type": "cron_data_interval", "expression": "30 2 * * *", "timezone": "Europe/London"},
        {"type": "delta_data_interval", "delta": delta_spec(timedelta(hours=7))},
        {"type": "delta_trigger", "delta": delta_spec(relativedelta(months=1))},
        {"type": "once"},
        {"type": "multiple_cron_trigger", "expressions": ["0 * * * *", "@daily"], "timezone": "UTC"},
    ]
    for table in inner:
        spec = {"type": "asset_or_time", "timetable": table, "assets": {"type": "asset_any", "objects": []}}
        for start in moments("America/New_York"):
            found.append(chain(spec, now=start, catchup=rng.random() < 0.5, **bounds(start)))
        found.append(manual(spec, moments("Europe/London")[:8]))
        found.append(texts_of(spec))
    return found


def texts_of(spec: dict) -> dict:
    table = timetable(spec)
    return {"t": spec, "summary": table.summary, "description": table.description}


def texts() -> list[dict]:
    found = [texts_of({"type": "delta_trigger", "delta": delta_spec(d)}) for d in TIMEDELTAS + RELATIVEDELTAS]
    odd = [timedelta(days=-1), timedelta(days=-2, hours=3), timedelta(seconds=-1), timedelta(days=1, hours=2), timedelta(hours=26)]
    found += [texts_of({"type": "delta_data_interval", "delta": delta_spec(d)}) for d in odd + RELATIVEDELTAS[:3]]
    found += [texts_of({"type": "cron_trigger", "expression": e, "timezone": "UTC"}) for e in described_expressions()]
    for _ in range(40):
        chosen = rng.sample(EXPRESSIONS, rng.choice([1, 2, 3]))
        found.append(texts_of({"type": "multiple_cron_trigger", "expressions": chosen, "timezone": "UTC"}))
    return found


def described_expressions() -> list[str]:
    texts = EXPRESSIONS + PRESETS + hand_picked() + [wild_expression() for _ in range(400)] + [random_expression() for _ in range(300)]
    return [text for text in texts if is_valid(text)]


def is_valid(text: str) -> bool:
    try:
        timetable({"type": "cron_trigger", "expression": text, "timezone": "UTC"}).validate()
    except Exception:  # noqa: BLE001
        return False
    return True


PRESETS = ["@once", "@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@quarterly", "@yearly", "@annually", "@DAILY", "@reboot", "@foo"]
# What people write, get wrong, and argue about.
HAND_PICKED = """
* * * * * | 0 0 ? * MON | ? ? ? ? ? | 5 4 ? * ? | 0 0 L-1 * * | 0 0 * * 5L | 0 0 * * L | 0 0 * * Lfri | 0 0 * * l5 | 0 0 l * *
0 0 * * 5#6 | 0 0 * * 5#0 | 0 0 * * fri#2 | 0 0 * * 5#2,1 | 0 0 * * 5#2,5 | 0 0 * * 5#2,5#3,1#1 | 0 0 * * L5,1#1 | 0 0 * * 1-3#2
0 0 1 * 1#1 | 0 0 1,2,3 * 1#2 | 0 0 10 * L1 | 0 0 15W * 1 | 0 0 15W * 1#1 | 0 0 1W * * | 0 0 31W * * | 0 0 LW * * | 0 0 1-5W * * | 0 0 15w * *
0 0 1,L * * | 0 0 1-L * * | 0 0 28-L * * | 0 0 L/2 * * | 0 0 31 2 * | 0 0 30 2 * | 0 0 29 2 * | 0 0 29 2 1 | 0 0 1-31 * 1 | 0 0 */1 * 1
0 0 *,5 * 1 | 0 0 10 * 0-6 | 0 0 10 * */1 | 0 0 */2 * */1 | 0 0 * * 7 | 0 0 * * 0-7 | 0 0 * * 5-7 | 0 0 * * 7-1 | 0 0 * * 6-1 | 0 0 * * 1-0
0 0 * * 1-07 | 0 0 * * 2-07/1 | 0 0 * * 6-2/2 | 0 0 * * fri-tue/2 | 0 0 30-5/3 * * | 0 22-3/2 * * * | 50-10 * * * * | 1-1 * * * * | 59/5 * * * *
0 0 5-0 * * | 0 0 0-5 * * | 0 0 5-32 * * | 0 0 * 11-2 * | 0 0 * nov-feb/2 * | 0 0 * 5-0 * | 0 0 * JAN,Feb * | 0 0 * * MON-FRI/2 | 5/15 * * * *
*/0 * * * * | */100 * * * * | */60 * * * * | 0 */24 * * * | 0 0 */32 * * | 0 0 * */13 * | 0 0 * * */8 | 1,2,,3 * * * * | ,1 * * * * | 1, * * * *
1-2-3 * * * * | 1/2/3 * * * * | -1 * * * * | +1 * * * * | 1.5 * * * * | 01 02 03 04 05 | 001 * * * * | 0 0 jan * * | mon * * * * | 0 0 * * tuesday
60 * * * * | 0 24 * * * | 0 0 0 * * | 0 0 32 * * | 0 0 * 0 * | 0 0 * 13 * | 0 0 * * 8 | *-5 * * * * | *,5 * * * * | */* * * * * | a * * * * | ~ * * * *
H * * * * | H/5 * * * * | h h * * * | 0 0 ?/2 * * | 0 0 1-5,? * * | */15,7 * * * * | 10-20,15-25 * * * * | 0 */5,7 * * * | 0 *,5 * * * | */5 9-17 * * 1-5
* * * * * * | * * * * * * * | 0 0 * * 7 0 | 0 0 0 * * 0 | 0 0 17-0 * * 0 | 0 0 0 * * 0 * | 0 0 * * 0 30 2027 | 0 0 1 1 * 0 2100 | 0 0 1 1 * 0 1969
1 2 3 4 5 6 7 8 | 1 2 3 4 | 0 0 1 1 1970 | 0 0 1 1 * 0 2026-2030/2 | 0 0 1 * * 60 | @reboot | @once | @foo | @Quarterly | @MIDNIGHT
"""


def hand_picked() -> list[str]:
    return [text.strip() for text in HAND_PICKED.replace("\n", " | ").split(" | ") if text.strip()]


def wild_expression() -> str:
    """Anything that looks like cron, much of it wrong."""
    months = "jan feb mar apr may jun jul aug sep oct nov dec".split()
    weekdays = "sun mon tue wed thu fri sat".split()

    def number(low: int, high: int, names: list[str]) -> str:
        if names and rng.random() < 0.3:
            return rng.choice(names)
        return str(rng.choice([low - 1, high + 1]) if rng.random() < 0.02 else rng.randint(low, high))

    def element(low: int, high: int, names: list[str], special: list[str]) -> str:
        one, other = number(low, high, names), number(low, high, names)
        step = rng.choice([1, 2, 3, 5, 7, 15, rng.randint(0, high + 3)])
        plain = ["*", f"*/{step}", one, one, f"{one}/{step}", f"{one}-{other}", f"{one}-{other}/{step}"]
        return rng.choice(special) if special and rng.random() < 0.1 else rng.choice(plain)

    def field(low: int, high: int, names: list[str] = [], special: list[str] = []) -> str:
        count = rng.choice([0, 0, 1, 1, 1, 1, 2, 3])
        return ",".join(element(low, high, names, special) for _ in range(count)) or "*"

    days = ["L", "l", "15W", "1W", "31W", "?", "1-L", "28-L", "5-L/3", "LW", "L-3"]
    fields = [
        field(0, 59),
        field(0, 23),
        field(1, 31, [], days),
        field(1, 12, months),
        field(0, 7, weekdays, ["L5", "l0", "5#2", "1#1", "fri#3", "7#5", "0#5", "L7", "?", "2#0", "5L"]),
    ]
    if rng.random() < 0.15:
        fields.append(field(0, 59))
        if rng.random() < 0.3:
            fields.append(rng.choice(["*", "2026", "2026-2030", "*/2", "2027,2029", "2030-2026/3"]))
    return " ".join(fields)


def expressions() -> list[dict]:
    """Which expressions exist, and their first matches in plain UTC. R (random) is left out: it answers anew every time."""
    found = []
    for text in PRESETS + hand_picked() + [wild_expression() for _ in range(1500)]:
        spec = {"type": "cron_trigger", "expression": text, "timezone": "UTC"}
        if not is_valid(text):
            found.append({"t": spec, "invalid": True})
            continue
        start = seconds(rng.choice(CALENDAR_EDGES))
        found.append(chain(spec, now=start, catchup=True, earliest=start, count=5))
        found.append(manual(spec | {"type": "cron_data_interval"}, [start]))
    return found


def write(name: str, series: list[dict]) -> None:
    lines = ",\n".join(json.dumps(item, ensure_ascii=False, separators=(",", ":")) for item in series)
    path = OUT / f"{name}.json"
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{name:24} {len(series):5} series {path.stat().st_size / 1000:8.0f} kB")


WRITERS = [
    cron_trigger,
    cron_data_interval,
    multiple_cron_trigger,
    delta_trigger,
    delta_data_interval,
    events,
    simple,
    asset_or_time,
    texts,
    expressions,
]

if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for writer in WRITERS:
        if len(sys.argv) == 1 or writer.__name__ in sys.argv[1:]:
            # Each file draws from its own seed, so that changing one leaves the others alone.
            rng.seed(f"20260601 {writer.__name__}")
            write(writer.__name__, writer())
