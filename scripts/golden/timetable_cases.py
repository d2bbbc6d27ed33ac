"""The cases of each timetable type: around the changes of zones, at the edges of the calendar, and drawn."""

from __future__ import annotations

import zoneinfo
from datetime import datetime, timedelta

from dateutil.relativedelta import relativedelta, weekday

from cron_expressions import (
    EXPRESSIONS,
    random_expression,
    rng,
)
from timetable_recording import (
    UTC,
    backfill,
    chain,
    delta_spec,
    dt,
    manual,
    seconds,
    texts_of,
)

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
