"""Is this text a cron expression? A wrong one must fail the compile, not the scheduler a day later."""

from __future__ import annotations

import re

from ..exceptions import AirflowTimetableInvalid

PRESETS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@quarterly": "0 0 1 */3 *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_MONTHS = {name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_DAYS = {name: number for number, name in enumerate("sun mon tue wed thu fri sat".split())}
# name, lowest, highest, word values
_FIELDS = [
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of month", 1, 31, {}),
    ("month", 1, 12, _MONTHS),
    ("day of week", 0, 7, _DAYS),
    ("second", 0, 59, {}),
    ("year", 1970, 2099, {}),
]
_ITEM = re.compile(r"^(?P<low>\*|[a-z0-9]+)(-(?P<high>[a-z0-9]+))?(/(?P<step>\d+))?$")


def check_cron(expression) -> str:
    """The expression, as it was given."""
    if not isinstance(expression, str):
        raise AirflowTimetableInvalid(f"a cron expression must be text, not {type(expression).__name__}")
    text = expression.strip().lower()
    if text.startswith("@"):
        if text not in PRESETS:
            known = ", ".join([*sorted(PRESETS), "@once", "@continuous"])
            raise AirflowTimetableInvalid(f"unknown schedule preset {expression!r}; known ones are {known}")
        return expression
    fields = text.split()
    if not 5 <= len(fields) <= 7:
        raise AirflowTimetableInvalid(
            f"{expression!r} is not a cron expression: it has {len(fields)} fields, not 5 "
            "(minute hour day-of-month month day-of-week)"
        )
    for field, (name, low, high, words) in zip(fields, _FIELDS, strict=False):
        for item in field.split(","):
            problem = _check_item(item, name, low, high, words)
            if problem:
                raise AirflowTimetableInvalid(f"{expression!r} is not a cron expression: {problem} in the {name} field")
    return expression


def _number(text: str, words: dict):
    return int(text) if text.isdigit() else words.get(text[:3] if text.isalpha() else text)


def _check_item(item: str, name: str, low: int, high: int, words: dict) -> str | None:
    if item == "?" and name in ("day of month", "day of week"):
        return None
    if name == "day of month" and item == "l":
        return None
    if name == "day of week" and re.match(r"^(l[0-7]|[0-7a-z]+#[1-5]|[0-7]l)$", item):
        return None
    match = _ITEM.match(item)
    if match is None:
        return f"cannot read {item!r}"
    if match["step"] is not None and int(match["step"]) == 0:
        return f"step 0 in {item!r}"
    for part in (match["low"], match["high"]):
        if part is None or part == "*":
            continue
        number = _number(part, words)
        if number is None:
            return f"cannot read {part!r}"
        if not low <= number <= high:
            return f"{part} is outside {low}-{high}"
    return None
