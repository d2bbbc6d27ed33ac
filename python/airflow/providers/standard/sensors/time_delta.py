"""TimeDeltaSensor and WaitSensor: done some time after the data interval ended, or after the task started."""

from __future__ import annotations

import datetime

from svc_runtime.record.sensor import BaseSensorOperator


class TimeDeltaSensor(BaseSensorOperator):
    def __init__(
        self, *, delta: datetime.timedelta, deferrable: bool = False, end_from_trigger: bool = False, **kwargs
    ):
        super().__init__(**kwargs)
        self.delta = delta
        self.deferrable = deferrable
        self.end_from_trigger = end_from_trigger

    def poke(self, context):
        base = context.get("data_interval_end") or context["dag_run"].run_after
        return datetime.datetime.now(datetime.timezone.utc) > base + self.delta


class TimeDeltaSensorAsync(TimeDeltaSensor):
    def __init__(self, *, end_from_trigger: bool = False, delta, **kwargs) -> None:
        super().__init__(delta=delta, deferrable=True, end_from_trigger=end_from_trigger, **kwargs)


class WaitSensor(BaseSensorOperator):
    def __init__(self, *, time_to_wait, deferrable: bool = False, **kwargs) -> None:
        super().__init__(**kwargs)
        self.deferrable = deferrable
        self.time_to_wait = (
            time_to_wait if isinstance(time_to_wait, datetime.timedelta) else datetime.timedelta(minutes=time_to_wait)
        )
        self._until = None

    def poke(self, context):
        now = datetime.datetime.now(datetime.timezone.utc)
        if self._until is None:
            self._until = (context["ti"].start_date or now) + self.time_to_wait
        return now > self._until
