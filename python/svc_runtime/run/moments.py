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


class LazyMoment:
    """An attribute that is made of its text in the object's `svc_texts` when somebody asks: few bodies do."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance, owner: type):
        if instance is None:
            return self
        # What stands in the instance is found before this, so it is made once and can be set.
        value = instance.__dict__[self._name] = moment(instance.svc_texts.get(self._name))
        return value


def iso(value) -> str | None:
    return None if value is None else to_utc(value).isoformat().replace("+00:00", "Z")
