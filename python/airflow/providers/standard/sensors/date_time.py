"""DateTimeSensor: done at a moment, which may be a template."""

from __future__ import annotations

import datetime

from svc_runtime.record.sensor import BaseSensorOperator
from svc_runtime.record.timezones import to_utc
from svc_runtime.run.triggers import StartTriggerArgs

from ..triggers.temporal import defer_until


class DateTimeSensor(BaseSensorOperator):
    template_fields = ("target_time",)

    def __init__(self, *, target_time, **kwargs) -> None:
        super().__init__(**kwargs)
        if isinstance(target_time, datetime.datetime):
            self.target_time = target_time.isoformat()
        elif isinstance(target_time, str):
            self.target_time = target_time
        else:
            raise TypeError(f"Expected str or datetime.datetime type for target_time. Got {type(target_time)}")

    def svc_moment(self, context):
        return to_utc(self.target_time)

    def poke(self, context):
        return datetime.datetime.now(datetime.timezone.utc) > self.svc_moment(context)


class DateTimeSensorAsync(DateTimeSensor):
    """Waiting costs no slot: the attempt ends, and the same try goes on at the moment."""

    deferrable = True

    def __init__(
        self, *, start_from_trigger: bool = False, end_from_trigger: bool = False, trigger_kwargs=None, **kwargs
    ) -> None:
        super().__init__(**kwargs)
        self.start_from_trigger = start_from_trigger
        self.end_from_trigger = end_from_trigger
        self.trigger_kwargs = trigger_kwargs
        # A moment that is a template is known at run time only: then the first attempt defers.
        if start_from_trigger and "{{" not in self.target_time and "{%" not in self.target_time:
            self.start_trigger_args = StartTriggerArgs(
                trigger_cls="airflow.providers.standard.triggers.temporal.DateTimeTrigger",
                trigger_kwargs={"moment": to_utc(self.target_time), "end_from_trigger": end_from_trigger},
                next_method="execute_complete",
            )

    def execute(self, context):
        return defer_until(self, self.svc_moment(context))

    def execute_complete(self, context, event=None) -> None:
        """The moment has come."""
