"""TimeDeltaSensor and WaitSensor: done some time after the data interval ended, or after the task started."""

from __future__ import annotations

import datetime

from svc_runtime.record.sensor import BaseSensorOperator

from ..triggers.temporal import defer_until


class TimeDeltaSensor(BaseSensorOperator):
    def __init__(
        self, *, delta: datetime.timedelta, deferrable: bool = False, end_from_trigger: bool = False, **kwargs
    ):
        super().__init__(**kwargs)
        self.delta = delta
        self.deferrable = deferrable
        self.end_from_trigger = end_from_trigger

    def svc_moment(self, context):
        return (context.get("data_interval_end") or context["dag_run"].run_after) + self.delta

    def poke(self, context):
        return datetime.datetime.now(datetime.timezone.utc) > self.svc_moment(context)

    def execute(self, context):
        if not self.deferrable:
            return super().execute(context)
        return defer_until(self, self.svc_moment(context))

    def execute_complete(self, context, event=None) -> None:
        """The moment has come."""


class TimeDeltaSensorAsync(TimeDeltaSensor):
    def __init__(self, *, end_from_trigger: bool = False, delta, **kwargs) -> None:
        super().__init__(delta=delta, deferrable=True, end_from_trigger=end_from_trigger, **kwargs)


class WaitSensor(BaseSensorOperator):
    def __init__(self, *, time_to_wait, deferrable: bool = False, **kwargs) -> None:
        super().__init__(**kwargs)
        self.deferrable = deferrable
        self.end_from_trigger = True
        self.time_to_wait = (
            time_to_wait if isinstance(time_to_wait, datetime.timedelta) else datetime.timedelta(minutes=time_to_wait)
        )

    def svc_moment(self, context):
        """Counted from the first attempt, however often the sensor was rescheduled since."""
        ti = context["ti"]
        return (getattr(ti, "svc_first_poke_at", None) or ti.start_date) + self.time_to_wait

    def poke(self, context):
        return datetime.datetime.now(datetime.timezone.utc) > self.svc_moment(context)

    def execute(self, context):
        if not self.deferrable:
            return super().execute(context)
        return defer_until(self, self.svc_moment(context))

    def execute_complete(self, context, event=None) -> None:
        """The moment has come."""
