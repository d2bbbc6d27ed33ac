"""BranchDayOfWeekOperator."""

from __future__ import annotations

import datetime

from svc_runtime.enums import WeekDay

from .branch import BaseBranchOperator


class BranchDayOfWeekOperator(BaseBranchOperator):
    def __init__(
        self,
        *,
        follow_task_ids_if_true,
        follow_task_ids_if_false,
        week_day,
        use_task_logical_date: bool = False,
        use_task_execution_day: bool = False,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.follow_task_ids_if_true = follow_task_ids_if_true
        self.follow_task_ids_if_false = follow_task_ids_if_false
        self.week_day = week_day
        self.use_task_logical_date = use_task_logical_date or use_task_execution_day
        self._week_day_num = WeekDay.validate_week_day(week_day)

    def choose_branch(self, context):
        now = context["logical_date"] if self.use_task_logical_date else datetime.datetime.now(datetime.timezone.utc)
        return self.follow_task_ids_if_true if now.isoweekday() in self._week_day_num else self.follow_task_ids_if_false
