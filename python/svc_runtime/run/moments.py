"""Moments as they travel (ISO text) and as task bodies get them (pendulum, in UTC)."""

from __future__ import annotations

import datetime

from ..record.timezones import parse_iso, to_utc

_UTC = datetime.timezone.utc


def moment(text):
    """A pendulum DateTime in UTC; None stays None."""
    if text is None:
        return None
    import pendulum

    value = to_utc(parse_iso(text) if isinstance(text, str) else text)
    return pendulum.DateTime(
        value.year,
        value.month,
        value.day,
        value.hour,
        value.minute,
        value.second,
        value.microsecond,
        tzinfo=pendulum.UTC,
    )


class LazyMoments:
    """Attributes named in `svc_moments` are made of their text in `svc_texts` when somebody asks: few bodies do."""

    svc_moments: frozenset = frozenset()
    svc_texts: dict = {}

    def __getattr__(self, name: str):
        if name not in type(self).svc_moments:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = self.__dict__[name] = moment(self.svc_texts.get(name))
        return value


def iso(value) -> str | None:
    return None if value is None else to_utc(value).isoformat().replace("+00:00", "Z")
