"""A cron expression in a time zone, from moment to moment, with Airflow's rules for the days on which clocks change:
packages/spec/timetables/cron-schedule.ts and cron-stepper.ts. Moments are aware datetimes in UTC."""

from __future__ import annotations

import bisect
import calendar
import datetime
import re

from ..timezones import UTC
from .cron_expression import LAST, Cron, DayRule, parse_cron

# As far as Airflow looks: 29 February on a given weekday is at most 40 years away, anything later never comes.
_SEARCH_YEARS = 50
_SECOND = datetime.timedelta(seconds=1)


class CronSchedule:
    """Points in time, one after the other; None where there are no more."""

    def __init__(self, expression: str, timezone: str) -> None:
        self._cron = parse_cron(expression)
        self._zone = _zone(timezone)

    def next(self, after: datetime.datetime) -> datetime.datetime | None:
        return self._step(after, forward=True)

    def previous(self, before: datetime.datetime) -> datetime.datetime | None:
        return self._step(before, forward=False)

    def align_to_next(self, at: datetime.datetime) -> datetime.datetime | None:
        following = self.next(at)
        return at if following is not None and self.previous(following) == at else following

    def align_to_previous(self, at: datetime.datetime) -> datetime.datetime | None:
        preceding = self.previous(at)
        return at if preceding is not None and self.next(preceding) == at else preceding

    def _step(self, at: datetime.datetime, *, forward: bool) -> datetime.datetime | None:
        wall = at.astimezone(self._zone).replace(tzinfo=None)
        match = _match(self._cron, wall, forward=forward)
        if match is None:
            return None
        return at + (match - wall) if self._cron.every_hour else self._from_wall(match)

    def _from_wall(self, wall: datetime.datetime) -> datetime.datetime:
        """One that happens twice is its second occurrence, one that a clock set forward skips happens as much later."""
        late = wall.replace(tzinfo=self._zone, fold=1).astimezone(UTC)
        if late.astimezone(self._zone).replace(tzinfo=None) == wall:
            return late
        return wall.replace(tzinfo=self._zone, fold=0).astimezone(UTC)


def _zone(name: str) -> datetime.tzinfo:
    if name == "UTC":
        return UTC
    fixed = re.fullmatch(r"([+-])(\d\d):(\d\d)(?::(\d\d))?", name)
    if fixed:
        size = datetime.timedelta(hours=int(fixed[2]), minutes=int(fixed[3]), seconds=int(fixed[4] or 0))
        return datetime.timezone(-size if fixed[1] == "-" else size)
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)


def _match(cron: Cron, wall: datetime.datetime, *, forward: bool) -> datetime.datetime | None:
    """Every day rule must match sometime, then the nearest counts: Airflow raises an error otherwise, even when one would do."""
    whole = wall.replace(microsecond=0)
    if forward:
        bound = whole + _SECOND
    else:
        bound = whole if whole < wall else whole - _SECOND
    found = [_search(cron, rule, bound, forward) for rule in cron.day_rules]
    matches = [match for match in found if match is not None]
    if len(matches) < len(found):
        return None
    return min(matches) if forward else max(matches)


def _search(cron: Cron, rule: DayRule, bound: datetime.datetime, forward: bool) -> datetime.datetime | None:
    for month_index in _months(bound, forward):
        year, month = month_index // 12, month_index % 12 + 1
        if month not in cron.months or (cron.years is not None and year not in cron.years):
            continue
        days = _days(rule, year, month)
        if (year, month) == (bound.year, bound.month):
            if bound.day in days:
                time = _time(cron, bound.time(), forward)
                if time is not None:
                    return datetime.datetime.combine(bound.date(), time)
            days = [day for day in days if (day > bound.day if forward else day < bound.day)]
        if days:
            end = 0 if forward else -1
            return datetime.datetime(year, month, days[end], cron.hours[end], cron.minutes[end], cron.seconds[end])
    return None


def _months(bound: datetime.datetime, forward: bool) -> range:
    start = bound.year * 12 + bound.month - 1
    if forward:
        return range(start, min((bound.year + _SEARCH_YEARS) * 12 + 12, datetime.MAXYEAR * 12 + 12))
    return range(start, max((bound.year - _SEARCH_YEARS) * 12, datetime.MINYEAR * 12) - 1, -1)


def _days(rule: DayRule, year: int, month: int) -> list[int]:
    first, last = calendar.monthrange(year, month)
    found = []
    for day in range(1, last + 1):
        if rule.days is not None and day not in rule.days and not (rule.last_day and day == last):
            continue
        if rule.workday is not None and day != _nearest_workday(rule.workday, year, month, last):
            continue
        weekday = (first + day) % 7  # 0 is Sunday
        if rule.weekdays is not None and weekday not in rule.weekdays:
            continue
        if rule.nth is not None:
            wanted = rule.nth.get(weekday, [])
            if not (LAST in wanted and day + 7 > last) and (day + 6) // 7 not in wanted:
                continue
        found.append(day)
    return found


def _nearest_workday(day: int, year: int, month: int, last: int) -> int:
    target = min(day, last)
    weekday = calendar.weekday(year, month, target)
    if weekday == 5:
        return 3 if target == 1 else target - 1
    if weekday == 6:
        return target - 2 if target == last else target + 1
    return target


def _time(cron: Cron, bound: datetime.time, forward: bool) -> datetime.time | None:
    """The time of a day nearest to the bound, which it may equal."""
    end = 0 if forward else -1
    pick = _at_least if forward else _at_most
    step = 1 if forward else -1
    if bound.hour in cron.hours:
        if bound.minute in cron.minutes:
            second = pick(cron.seconds, bound.second)
            if second is not None:
                return datetime.time(bound.hour, bound.minute, second)
        minute = pick(cron.minutes, bound.minute + step)
        if minute is not None:
            return datetime.time(bound.hour, minute, cron.seconds[end])
    hour = pick(cron.hours, bound.hour + step)
    return None if hour is None else datetime.time(hour, cron.minutes[end], cron.seconds[end])


def _at_least(values: list, bound: int) -> int | None:
    index = bisect.bisect_left(values, bound)
    return values[index] if index < len(values) else None


def _at_most(values: list, bound: int) -> int | None:
    index = bisect.bisect_right(values, bound)
    return values[index - 1] if index else None
