"""TimeSensor: done when the wall clock passes a time of day, in the DAG's zone."""

from __future__ import annotations

import datetime

from svc_runtime.record.sensor import BaseSensorOperator

from ..triggers.temporal import defer_until


class TimeSensor(BaseSensorOperator):
    def __init__(
        self,
        *,
        target_time: datetime.time,
        deferrable: bool = False,
        start_from_trigger: bool = False,
        end_from_trigger: bool = False,
        trigger_kwargs=None,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.target_time = target_time
        self.deferrable = deferrable
        self.start_from_trigger = start_from_trigger
        self.end_from_trigger = end_from_trigger
        self.trigger_kwargs = trigger_kwargs

    def svc_moment(self, context):
        from svc_runtime.run.clock import today_at

        return today_at(self.target_time, self.dag)

    def poke(self, context):
        return datetime.datetime.now(datetime.timezone.utc) > self.svc_moment(context)

    def execute(self, context):
        if not self.deferrable:
            return super().execute(context)
        return defer_until(self, self.svc_moment(context))

    def execute_complete(self, context, event=None) -> None:
        """The moment has come."""


class TimeSensorAsync(TimeSensor):
    def __init__(self, **kwargs) -> None:
        super().__init__(deferrable=True, **kwargs)
