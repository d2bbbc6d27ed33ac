"""`airflow.utils.timezone` and `airflow.sdk.timezone`. pendulum loads on first use only."""

from __future__ import annotations

import datetime as _dt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def __getattr__(name: str):
    if name == "utc":
        import pendulum

        return pendulum.UTC
    if name in ("TIMEZONE",):
        import pendulum

        return pendulum.timezone("UTC")
    raise AttributeError(name)


def utcnow() -> _dt.datetime:
    import pendulum

    return pendulum.now("UTC")


def is_localized(value: _dt.datetime) -> bool:
    return value.utcoffset() is not None


def is_naive(value: _dt.datetime) -> bool:
    return value.utcoffset() is None


def make_aware(value: _dt.datetime, timezone=None) -> _dt.datetime:
    import pendulum

    if is_localized(value):
        raise ValueError(f"make_aware expects a naive datetime, got {value}")
    return pendulum.instance(value, tz=timezone or "UTC")


def make_naive(value: _dt.datetime, timezone=None) -> _dt.datetime:
    if is_naive(value):
        raise ValueError("make_naive() cannot be applied to a naive datetime")
    return value.astimezone(timezone or _dt.timezone.utc).replace(tzinfo=None)


def convert_to_utc(value):
    import pendulum

    if value is None:
        return None
    if is_naive(value):
        return pendulum.instance(value, tz="UTC")
    return pendulum.instance(value.astimezone(_dt.timezone.utc))


def coerce_datetime(value, tz=None):
    import pendulum

    return None if value is None else pendulum.instance(value, tz=tz or "UTC")


def datetime(*args, **kwargs) -> _dt.datetime:
    """An aware datetime in UTC, the way `timezone.datetime(2024, 1, 1)` is used in DAG files."""
    kwargs.setdefault("tzinfo", _dt.timezone.utc)
    return _dt.datetime(*args, **kwargs)


def parse(string: str, timezone=None, *, strict: bool = False):
    import pendulum

    parsed: Any = pendulum.parse(string, tz=timezone or "UTC", strict=strict)
    return pendulum.instance(parsed)


def from_timestamp(timestamp, tz="UTC"):
    import pendulum

    return pendulum.from_timestamp(timestamp, tz=tz)


def parse_timezone(name):
    import pendulum

    return pendulum.timezone(name)
