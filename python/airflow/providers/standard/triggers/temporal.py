"""Time triggers. The engine itself waits for their moments; they run only where somebody runs them."""

from __future__ import annotations

import datetime

from svc_runtime.run.triggers import BaseTrigger, TaskSuccessEvent, TriggerEvent


class DateTimeTrigger(BaseTrigger):
    def __init__(self, moment: datetime.datetime, *, end_from_trigger: bool = False) -> None:
        super().__init__(moment=moment, end_from_trigger=end_from_trigger)
        if moment.tzinfo is None:
            raise ValueError("You cannot pass naive datetimes")
        self.moment = moment
        self.end_from_trigger = end_from_trigger

    def serialize(self) -> tuple:
        path = "airflow.providers.standard.triggers.temporal.DateTimeTrigger"
        return path, {"moment": self.moment, "end_from_trigger": self.end_from_trigger}

    async def run(self):
        import asyncio

        while (left := (self.moment - datetime.datetime.now(datetime.timezone.utc)).total_seconds()) > 0:
            await asyncio.sleep(min(left, 3600))
        yield TaskSuccessEvent() if self.end_from_trigger else TriggerEvent(self.moment)


class TimeDeltaTrigger(DateTimeTrigger):
    """Written down as the moment that it means, so that it does not begin anew with every process."""

    def __init__(self, delta: datetime.timedelta, *, end_from_trigger: bool = False) -> None:
        super().__init__(datetime.datetime.now(datetime.timezone.utc) + delta, end_from_trigger=end_from_trigger)


def defer_until(sensor, moment: datetime.datetime) -> None:
    """The engine waits for the moment, and nothing runs until then. Returns when it has passed already."""
    if moment <= datetime.datetime.now(datetime.timezone.utc):
        return
    ends = bool(getattr(sensor, "end_from_trigger", False))
    sensor.defer(trigger=DateTimeTrigger(moment=moment, end_from_trigger=ends), method_name="execute_complete")
