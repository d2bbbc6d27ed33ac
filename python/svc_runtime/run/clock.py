"""Moments on the DAG's own clock."""

from __future__ import annotations

import datetime
from zoneinfo import ZoneInfo


def dag_zone(dag):
    name = getattr(dag, "timezone", "UTC") or "UTC"
    if name[:1] in "+-":
        sign = -1 if name[0] == "-" else 1
        hours, minutes = name[1:].split(":")
        return datetime.timezone(sign * datetime.timedelta(hours=int(hours), minutes=int(minutes)))
    return ZoneInfo(name)


def today_at(time_of_day: datetime.time, dag) -> datetime.datetime:
    zone = time_of_day.tzinfo or dag_zone(dag)
    today = datetime.datetime.now(zone).date()
    return datetime.datetime.combine(today, time_of_day.replace(tzinfo=None), tzinfo=zone)
