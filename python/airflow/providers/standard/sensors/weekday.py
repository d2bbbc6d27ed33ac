"""DayOfWeekSensor."""

from __future__ import annotations

import datetime

from svc_runtime.enums import WeekDay
from svc_runtime.record.sensor import BaseSensorOperator


class DayOfWeekSensor(BaseSensorOperator):
    def __init__(
        self, *, week_day, use_task_logical_date: bool = False, use_task_execution_day: bool = False, **kwargs
    ) -> None:
        super().__init__(**kwargs)
        self.week_day = week_day
        self.use_task_logical_date = use_task_logical_date or use_task_execution_day
        self._week_day_num = WeekDay.validate_week_day(week_day)

    def poke(self, context):
        now = context["logical_date"] if self.use_task_logical_date else datetime.datetime.now(datetime.timezone.utc)
        return now.isoweekday() in self._week_day_num
