"""Dates as the spec wants them: aware, in UTC, with the author's zone kept as a name beside them.

Only the standard library is used; pendulum objects are recognised by shape, never imported.
"""

from __future__ import annotations

import datetime as _dt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

UTC = _dt.timezone.utc


def parse_iso(text: str) -> _dt.datetime:
    """ISO 8601 as authors write it in default_args; Python 3.10 knows neither `Z` nor bare dates well."""
    cleaned = text.strip()
    if cleaned.endswith(("Z", "z")):
        cleaned = cleaned[:-1] + "+00:00"
    try:
        return _dt.datetime.fromisoformat(cleaned)
    except ValueError:
        import pendulum  # the slow road: week dates, ordinal dates and other rare spellings

        parsed: Any = pendulum.parse(text, tz=None)
        return parsed


def to_utc(value):
    """None, datetime, date or ISO text → aware datetime in UTC (naive values are UTC already)."""
    if value is None:
        return None
    if isinstance(value, str):
        value = parse_iso(value)
    if isinstance(value, _dt.date) and not isinstance(value, _dt.datetime):
        value = _dt.datetime(value.year, value.month, value.day)
    if not isinstance(value, _dt.datetime):
        raise TypeError(f"expected a datetime, got {type(value).__name__} ({value!r})")
    if value.utcoffset() is None:
        return value.replace(tzinfo=UTC)
    return value.astimezone(UTC)


def zone_name(zone) -> str:
    """A name another program can load: `Europe/Berlin`, `UTC` or a fixed offset such as `+02:00`."""
    if zone is None:
        return "UTC"
    if isinstance(zone, str):
        return zone
    for attribute in ("key", "zone", "name"):  # zoneinfo, pytz, pendulum
        name = getattr(zone, attribute, None)
        if isinstance(name, str) and name:
            return name
    offset = zone.utcoffset(None) if isinstance(zone, _dt.timezone) else None
    if offset is None:
        offset = zone.utcoffset(_dt.datetime(2000, 1, 1))
    if offset == _dt.timedelta(0):
        return "UTC"
    minutes = int(offset.total_seconds() // 60)
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def iso(value: _dt.datetime | None) -> str | None:
    """Fixed spelling: UTC, microseconds only when there are any."""
    if value is None:
        return None
    return to_utc(value).isoformat()
