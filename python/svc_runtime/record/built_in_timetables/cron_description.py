"""A cron expression in English, word for word as Airflow shows it: packages/spec/timetables/cron-description.ts says where that is odd."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

_MONTHS = "January February March April May June July August September October November December".split()
_WEEKDAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split()
_ORDINALS = {"1": "first", "2": "second", "3": "third", "4": "fourth", "5": "fifth"}


class _Phrases(NamedTuple):
    any: str
    one: Callable[[str], str]
    every: Callable[[str], str]
    between: Callable[[str, str], str]
    list: Callable[[str], str]
    # A value inside a list or phrase; ValueError for what has no name.
    item: Callable[[str], str] = str
    # The end of a range, where it is said differently from its start.
    range_end: Callable[[str], str] | None = None


def _number(text: str) -> int:
    if not re.fullmatch(r"[0-9]+", text):
        raise ValueError(text)
    return int(text)


def _clock(hour: str, minute: str) -> str:
    return f"{_number(hour):02}:{_number(minute):02}"


def _named(names: list[str], index: int) -> str:
    if not 0 <= index < len(names):
        raise ValueError(str(index))
    return names[index]


_MINUTES = _Phrases(
    any="every minute",
    one=lambda text: "" if text == "0" else f"at {text} minutes past the hour",
    every=lambda step: f"every {step} minutes",
    between=lambda first, last: f"minutes {first} through {last} past the hour",
    list=lambda items: f"at {items} minutes past the hour",
)
_HOURS = _Phrases(
    any="every hour",
    one=lambda text: f"at {text}",
    every=lambda step: f"every {step} hours",
    between=lambda first, last: f"between {first} and {last}",
    list=lambda items: f"at {items}",
    item=lambda text: _clock(text, "0"),
    range_end=lambda text: _clock(text, "59"),
)
_DAYS = _Phrases(
    any="",
    one=lambda text: f", on day {text} of the month",
    every=lambda step: ", every day" if step == "1" else f", every {step} days",
    between=lambda first, last: f", between day {first} and {last} of the month",
    list=lambda items: f", on day {items} of the month",
)
_IN_MONTHS = _Phrases(
    any="",
    one=lambda text: f", only in {text}",
    every=lambda step: f", every {step} months",
    between=lambda first, last: f", {first} through {last}",
    list=lambda items: f", only in {items}",
    item=lambda text: _named(_MONTHS, _number(text) - 1),
)


def _on_weekdays(expression: str) -> _Phrases:
    _, has_nth, nth = expression.partition("#")
    which = _ORDINALS.get(nth.partition("#")[0], "") if has_nth else ("last" if "L" in expression else None)

    def say(items: str) -> str:
        return f", only on {items}" if which is None else f", on the {which} {items} of the month"

    return _Phrases(
        any="",
        one=say,
        every=lambda step: f", every {step} days of the week",
        between=lambda first, last: f", {first} through {last}",
        list=say,
        item=lambda text: _named(_WEEKDAYS, _number(re.sub(r"#.*$|L", "", text))),
    )


def _split(text: str, by: str) -> tuple[str, str]:
    first, *others = text.split(by)
    return first, others[0] if others else ""


def _range_items(phrases: _Phrases, text: str) -> tuple[str, str]:
    first, last = _split(text, "-")
    return phrases.item(first), (phrases.range_end or phrases.item)(last)


def _step(phrases: _Phrases, text: str, *, in_list: bool) -> str:
    body, step = _split(text, "/")
    every = phrases.every(step)
    if "-" in body:
        first, last = _range_items(phrases, body)
        between = f"{first} through {last}" if in_list else phrases.between(first, last)
        return f"{every}{'' if between.startswith(', ') else ', '}{between}"
    if body == "*":
        return every
    start = phrases.item(body)
    # Inside a list the start goes unsaid, but not its comma.
    return f"{every}, " if in_list else f"{every}, starting {phrases.one(start).replace(', ', '', 1)}"


def _joined(items: list[str]) -> str:
    return " and ".join(items) if len(items) <= 2 else f"{', '.join(items[:-1])}, and {items[-1]}"


def _list_item(phrases: _Phrases, item: str) -> str:
    if "/" in item:
        return _step(phrases, item, in_list=True)
    return " through ".join(_range_items(phrases, item)) if "-" in item else phrases.item(item)


def _field(phrases: _Phrases, text: str) -> str:
    if text == "*":
        return phrases.any
    if "," in text:
        return phrases.list(_joined([_list_item(phrases, item) for item in text.split(",")]))
    if "/" in text:
        return _step(phrases, text, in_list=False)
    if "-" in text:
        return phrases.between(*_range_items(phrases, text))
    return phrases.one(phrases.item(text))


def _is_plain(text: str) -> bool:
    return not re.search(r"[/\-,*]", text)


def _time(minute: str, hour: str) -> str:
    if _is_plain(minute) and _is_plain(hour):
        return f"at {_clock(hour, minute)}"
    if _is_plain(hour) and "-" in minute and not re.search("[,/]", minute):
        first, last = _split(minute, "-")
        return f"every minute between {_clock(hour, first)} and {_clock(hour, last)}"
    if _is_plain(minute) and "," in hour and "-" not in hour:
        times = [_clock(each, minute) for each in hour.split(",")]
        return f"at {', '.join(times[:-1])} and {times[-1]}"
    # "Every 5 minutes, at 03:00" would be wrong; all of that hour is meant.
    spanned = f"{hour}-{hour}" if re.search("[*/]", minute) and _is_plain(hour) else hour
    return ", ".join(text for text in (_field(_MINUTES, minute), _field(_HOURS, spanned)) if text)


def _days(day: str) -> str:
    if day == "L":
        return ", on the last day of the month"
    workday = re.fullmatch(r"([0-9]+)W", day)
    if workday is None:
        return _field(_DAYS, day)
    if workday[1] == "1":
        return ", on the first weekday of the month"
    return f", on the weekday nearest day {workday[1]} of the month"


def _numbered(text: str, names: list[str], first: int) -> str:
    places = {name[:3].lower(): str(index + first) for index, name in enumerate(names)}
    return re.sub("[a-z]{3}", lambda word: places.get(word[0].lower(), word[0]), text, flags=re.IGNORECASE)


def _every_by_one(text: str) -> str:
    return "*" if text in ("*/1", "?") else text


def _open_range(text: str, last: int) -> str:
    """`3/2` said as the range it is, for fields whose values have names."""
    return re.sub(r"^([0-9]+)/([0-9]+)$", rf"\1-{last}/\2", text)


def _start_at(text: str, first: int) -> str:
    """`0/5` is `*/5`. In a list all of them are rewritten, also inside `10/5`, which then makes no sense and is not described."""
    return text.replace(f"{first}/", "*/") if text.startswith(f"{first}/") else text


def _sentence(minute: str, hour: str, day: str, month: str, weekday: str) -> str:
    months = _open_range(_numbered(_start_at(month, 1), _MONTHS, 1), 12)
    sundays = re.sub(r"(?<![0-9/#])7(?![0-9])", "0", _numbered(_start_at(weekday, 1), _WEEKDAYS, 0))
    weekdays = _open_range(re.sub(r"l([0-9])", r"\1L", sundays, flags=re.IGNORECASE), 6)
    text = (
        _time(_every_by_one(_start_at(minute, 0)), _every_by_one(_start_at(hour, 0)))
        + _days(_every_by_one(_start_at(day, 1)))
        + _field(_on_weekdays(weekdays), _every_by_one(weekdays))
        + _field(_IN_MONTHS, _every_by_one(months))
    )
    for unsaid in (", every minute", ", every hour", ", every day"):
        text = text.replace(unsaid, "")
    return text[:1].upper() + text[1:].rstrip(", ")


def cron_description(expression: str) -> str:
    """Empty for what has no description: six and seven fields, unresolved presets."""
    fields = expression.split()
    if len(fields) != 5:
        return ""
    minute, hour, day, month, weekday = fields
    try:
        if "*" in (day, weekday):
            return _sentence(minute, hour, day, month, weekday)
        # Either day field may match, so each is said on its own.
        by_day = _sentence(minute, hour, day, month, "*")
        return f"{by_day} (or) {_sentence(minute, hour, '*', month, weekday)}"
    except ValueError:
        return ""
