"""The next run of a built-in timetable, and what a manual one stands for: packages/spec/timetables/next-run.ts and its neighbours.

Moments are aware datetimes in UTC; `Query` is what Airflow asks a timetable with, and the clock.
"""

from __future__ import annotations

import datetime
from typing import NamedTuple

from ..timetable_base import DataInterval
from ..timezones import to_utc

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_FIVE_MINUTES = datetime.timedelta(minutes=5)


class Query(NamedTuple):
    last: DataInterval | None
    earliest: datetime.datetime | None
    latest: datetime.datetime | None
    catchup: bool
    now: datetime.datetime


def clock() -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc)


def plain(value) -> datetime.datetime | None:
    """In UTC, and not pendulum's: those read clocks in their own way."""
    at = to_utc(value)
    if at is None:
        return None
    day = (at.year, at.month, at.day)
    return datetime.datetime(*day, at.hour, at.minute, at.second, at.microsecond, tzinfo=datetime.timezone.utc)


def moment(value: datetime.datetime):
    """As Airflow hands them out: pendulum's, in UTC."""
    import pendulum

    return pendulum.instance(value).in_timezone("UTC")


class DeltaSchedule:
    """Every distance fits a delta, so nothing needs aligning."""

    def __init__(self, delta) -> None:
        self._delta = delta

    def next(self, after):
        return after + self._delta

    def previous(self, before):
        return before - self._delta

    def align_to_next(self, at):
        return at

    align_to_previous = align_to_next


def _within(at, query: Query):
    return None if at is None or (query.latest is not None and at > query.latest) else at


def _latest_of(first, second):
    return first or second if first is None or second is None else max(first, second)


# Data intervals: a run covers the time from one point of the schedule to the next and happens at its end.


def latest_complete_cron(schedule, now):
    start = schedule.previous(now)
    if start is None:
        return None
    end = schedule.next(start)
    return start if end is not None and end <= now else schedule.previous(start)


def latest_complete_delta(delta, now):
    """Airflow cuts time since 1970 into pieces of the delta's length and takes the last whole one."""
    over = (now - _EPOCH).total_seconds() % _rough_seconds(delta)
    return now - datetime.timedelta(seconds=over) - delta


def _rough_seconds(delta) -> float:
    """With 30-day months and 365-day years: how Airflow measures a relativedelta. Microseconds are left out."""
    if isinstance(delta, datetime.timedelta):
        return delta.total_seconds()
    days = delta.years * 365 + delta.months * 30 + delta.days
    return (days * 24 + delta.hours) * 3600 + delta.minutes * 60 + delta.seconds


def next_interval(schedule, latest_complete, query: Query) -> DataInterval | None:
    earliest = None if query.earliest is None else schedule.align_to_next(query.earliest)
    if not query.catchup:
        earliest = _latest_of(latest_complete(query.now), earliest)
    after_last = None if query.last is None else schedule.align_to_previous(query.last.end)
    start = _within(_latest_of(after_last, earliest), query)
    end = None if start is None else schedule.next(start)
    return None if end is None else DataInterval(start, end)


def manual_cron_interval(schedule, run_after) -> DataInterval:
    """The last complete interval: a manual run at one in the morning of a daily DAG works on yesterday."""
    end = schedule.align_to_previous(run_after) or run_after
    return DataInterval(schedule.previous(end) or end, end)


# Triggers: a run happens at each point of the schedule, its data interval ends there.


def first_cron_run(schedule, run_immediately, now):
    """When a DAG without a start date and without runs first runs: the point just missed, or the one to come."""
    past, following = schedule.align_to_previous(now), schedule.align_to_next(now)
    if past is None or following is None:
        return following if past is None or run_immediately is False else past
    if run_immediately is True:
        return past
    grace = run_immediately or max((following - past) / 10, _FIVE_MINUTES)
    return past if now - past <= grace else following


def next_trigger(schedule, interval, first_run, query: Query) -> DataInterval | None:
    at = _within((_catch_up if query.catchup else _skip_to_now)(schedule, first_run, query), query)
    return None if at is None else DataInterval(at - interval, at)


def _catch_up(schedule, first_run, query: Query):
    if query.last is not None:
        return schedule.next(query.last.end)
    return first_run(query.now) if query.earliest is None else schedule.align_to_next(query.earliest)


def _skip_to_now(schedule, first_run, query: Query):
    """The latest of: the newest point that has passed, the one after the last run, the first one allowed."""
    needed = []
    if query.last is not None:
        needed.append(schedule.next(query.last.end))
    elif query.earliest is None:
        needed.append(first_run(query.now))
    if query.earliest is not None:
        needed.append(schedule.align_to_next(query.earliest))
    # A schedule that ends has no next point, and then there is no run, however recent its last point.
    if None in needed:
        return None
    past = schedule.align_to_previous(query.now)
    return max([*needed, *([] if past is None else [past])], default=None)


def pick_run(runs: list, query: Query) -> DataInterval | None:
    """Of several triggers: with catchup the earliest run, none may be left out; without, the newest whose data interval has begun,
    and only when none has, the first to begin."""
    found = [run for run in runs if run is not None]

    def rank(run: DataInterval) -> float:
        at = (run.start - _EPOCH).total_seconds()
        return -at if not query.catchup and run.start <= query.now else at

    return min(found, key=rank, default=None)


def partition_date(schedule, offset: int | None, run_after):
    """So many points of the schedule after the run, or before it."""
    at = run_after
    for _ in range(abs(offset or 0)):
        at = (schedule.next(at) if (offset or 0) > 0 else schedule.previous(at)) or at
    return at


# Without a schedule.


def next_once(query: Query) -> DataInterval | None:
    at = None if query.last is not None else _within(query.earliest or query.now, query)
    return None if at is None else DataInterval(at, at)


def next_continuous(query: Query) -> DataInterval | None:
    begin = query.earliest or query.now
    if query.last is None:
        start, end = begin, max(begin, query.now)
    elif query.last.end <= query.now:
        start, end = query.last.end, query.now
    else:  # the last run reaches into the future: begin again, just as long
        start, end = begin, begin + (query.last.end - query.last.start)
    return None if _within(end, query) is None else DataInterval(start, end)


def next_event(events: list, query: Query) -> DataInterval | None:
    for at in events:
        if query.last is not None and at <= query.last.end:
            continue
        if (query.earliest is not None and at < query.earliest) or (not query.catchup and at < query.now):
            continue
        return None if _within(at, query) is None else DataInterval(at, at)
    return None


def manual_event(events: list, run_after) -> DataInterval:
    """The newest event that has passed (the first, when none has)."""
    passed = [at for at in events if at <= run_after]
    at = passed[-1] if passed and run_after >= events[0] else events[0]
    return DataInterval(at, at)
