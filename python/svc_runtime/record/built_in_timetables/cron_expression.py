"""Reads cron expressions as Airflow does; packages/spec/timetables/cron-expression.ts says where that is unusual, and why."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import NamedTuple

from ...exceptions import AirflowTimetableInvalid


class Field(NamedTuple):
    name: str
    low: int
    high: int
    words: Mapping[str, int] = {}
    # A number that stands for another: 7 for Sunday.
    alias: tuple[int, int] | None = None


class DayRule(NamedTuple):
    # None is any.
    days: frozenset[int] | None
    last_day: bool
    # 0 is Sunday.
    weekdays: frozenset[int] | None
    # When present, the weekday must also be such a one: weekday -> which of the month (1..5), or LAST.
    nth: dict[int, list[int]] | None
    # The working day nearest to this day of the month.
    workday: int | None


class Cron(NamedTuple):
    seconds: list[int]
    minutes: list[int]
    hours: list[int]
    months: list[int]
    years: list[int] | None
    # Two when day and weekday are both restricted: either may match, but each must match sometime.
    day_rules: list[DayRule]
    # The schedule then runs in every hour of real time, whatever the clock on the wall does.
    every_hour: bool


LAST = 6
_PRESETS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@quarterly": "0 0 1 */3 *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_MINUTE, _HOUR, _SECOND = Field("minute", 0, 59), Field("hour", 0, 23), Field("second", 0, 59)
_DAY = Field("day of month", 1, 31, {"l": 31})
_MONTH = Field(
    "month", 1, 12, dict(zip("jan feb mar apr may jun jul aug sep oct nov dec".split(), range(1, 13), strict=True))
)
_WEEKDAY = Field("day of week", 0, 6, dict(zip("sun mon tue wed thu fri sat".split(), range(7), strict=True)))
_YEAR = Field("year", 1970, 2099)


def check_cron(expression) -> str:
    """The expression, as it was given: a wrong one must fail the compile, not the scheduler a day later."""
    if not isinstance(expression, str):
        raise AirflowTimetableInvalid(f"a cron expression must be text, not {type(expression).__name__}")
    if expression.startswith("@") and _preset(expression) is None:
        known = ", ".join([*sorted(_PRESETS), "@once", "@continuous"])
        raise AirflowTimetableInvalid(f"unknown schedule preset {expression!r}; known ones are {known}")
    parse_cron(expression)
    return expression


def _preset(name: str) -> str | None:
    """One of them is Airflow's own, and counts as it is spelled; the others are croniter's."""
    return _PRESETS.get(name if name.lower() == "@quarterly" else name.lower())


def resolve_preset(expression: str) -> str:
    """What Airflow shows for what the author wrote: its own presets replaced. croniter's names (`@DAILY`, `@midnight`) stay."""
    is_shown = expression in ("@midnight", "@annually")
    return expression if is_shown else _PRESETS.get(expression, expression)


@functools.lru_cache(maxsize=256)
def parse_cron(expression: str) -> Cron:
    fields = (_preset(expression) or expression).lower().split()
    if not 5 <= len(fields) <= 7:
        raise AirflowTimetableInvalid(
            f"{expression!r} is not a cron expression: it has {len(fields)} fields, not 5 "
            "(minute hour day-of-month month day-of-week)"
        )
    minute, hour, day, month, weekday, second, year = (fields + ["0", "*"][len(fields) - 5 :])[:7]
    day_field = _DAY._replace(alias=(0, 1)) if len(fields) == 6 else _DAY
    weekday_field = _WEEKDAY._replace(alias=(7, 0)) if len(fields) == 5 else _WEEKDAY
    try:
        return Cron(
            seconds=_values(_SECOND, second),
            minutes=_values(_MINUTE, minute),
            hours=_values(_HOUR, hour),
            months=_values(_MONTH, month),
            years=None if "*" in year.split(",") else _values(_YEAR, year),
            day_rules=_day_rules(_month_days(day_field, day, weekday), _week_days(weekday_field, weekday, day)),
            every_hour=_names_all(_HOUR, hour),
        )
    except ValueError as error:
        raise AirflowTimetableInvalid(f"{expression!r} is not a cron expression: {error}") from None


def _number(field: Field, text: str, lowest: int) -> int:
    if text in field.words:
        return field.words[text]
    if not text.isdecimal():
        raise ValueError(f"cannot read {text!r} in the {field.name} field")
    value = int(text)
    if field.alias is not None and value == field.alias[0]:
        return field.alias[1]
    if not lowest <= value <= field.high:
        raise ValueError(f"{value} is outside {field.low}-{field.high} in the {field.name} field")
    return value


def _element(field: Field, element: str) -> list[int]:
    body, has_step, step_text = element.partition("/")
    if has_step and (not step_text.isdecimal() or int(step_text) == 0):
        raise ValueError(f"the step of {element!r} must be a number above 0 in the {field.name} field")
    step = int(step_text or 1)
    if body == "*":
        return list(range(field.low, field.high + 1, step))
    first_text, has_end, last_text = body.partition("-")
    if first_text == "l":
        raise ValueError(f"L can end a range of days but not start one, in {element!r}")
    first = _number(field, first_text, field.low)
    if not has_end and not has_step:
        return [first]
    # The end of a range may lie below the field's first value (`5-0`): the range then stops where it would wrap.
    last = _number(field, last_text, 0) if has_end else field.high
    if first == last:
        return list(range(field.low, field.high + 1, step))
    return _wrapped(field, first, last, step) if first > last else list(range(first, last + 1, step))


def _wrapped(field: Field, first: int, last: int, step: int) -> list[int]:
    """A range that runs past the end of the field and goes on at its beginning: `22-2`, `nov-feb/2`."""
    head = list(range(first, field.high + 1, step))
    size, position = field.high - field.low + 1, head[-1] - field.low
    skip = max(0, step - (size - 1 - position)) if position + step > size else 0
    return head + list(range(field.low + skip, last + 1, step))


def _values(field: Field, text: str) -> list[int]:
    return sorted({value for element in text.split(",") for value in _element(field, element)})


def _names_all(field: Field, text: str) -> bool:
    """A list of `*` only, or of every value. A lone * beside numbers counts as one more value: senseless, but Airflow's rule."""
    elements = text.split(",")
    numbers = [element for element in elements if element != "*"]
    values = {value for element in numbers for value in _element(field, element)}
    return not numbers or _is_full(field, len(values) + (1 if "*" in elements else 0))


def _is_full(field: Field, count: int) -> bool:
    return count == field.high - field.low + 1


def _month_days(field: Field, text: str, weekday_text: str) -> DayRule:
    free = DayRule(days=None, last_day=False, weekdays=None, nth=None, workday=None)
    if text == "?":
        return free
    workday = re.fullmatch(r"(\d+)w", text)
    if workday:
        return free._replace(workday=_number(field, workday[1], field.low))
    elements = text.split(",")
    last_day = "l" in elements
    values = frozenset(value for element in elements if element != "l" for value in _element(field, element))
    every_day = _is_full(field, len(values)) and not last_day and "*" in weekday_text
    return free if "*" in elements or every_day else free._replace(days=values, last_day=last_day)


def _week_days(field: Field, text: str, day_text: str) -> tuple:
    """Weekdays, and which of the month they are to be."""
    if text == "?":
        return None, None
    nth: dict = {}
    plain: set = set()
    for element in text.split(","):
        found = re.fullmatch(r"(\w+)#(\d+)|l(\d)", element)
        if found:
            which = LAST if found[3] else int(found[2])
            if not found[3] and not 1 <= which <= 5:
                raise ValueError(f"{element!r} must be #1 to #5 in the {field.name} field")
            nth.setdefault(_number(field, found[3] or found[1], field.low), []).append(which)
        elif element != "*":
            plain.update(_element(field, element))
    star = "*" in text.split(",")
    values = frozenset(plain | set(nth))
    every_day = _is_full(field, len(values) + (1 if star else 0))
    if nth and not every_day and plain - set(nth):
        raise ValueError("plain weekdays cannot be mixed with # or L")
    return (None if star or (every_day and "*" in day_text) else values), (nth or None)


def _day_rules(month: DayRule, week: tuple) -> list[DayRule]:
    """Either field may match. W and # stay in force on both sides: that is how Airflow evaluates it."""
    weekdays, nth = week
    both = month._replace(weekdays=weekdays, nth=nth)
    if (month.days is None and month.workday is None) or weekdays is None:
        return [both]
    return [both._replace(weekdays=None), both._replace(days=None, last_day=False)]
