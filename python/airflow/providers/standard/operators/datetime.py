"""BranchDateTimeOperator."""

from __future__ import annotations

import datetime

from svc_runtime.exceptions import AirflowException

from .branch import BaseBranchOperator

_UTC = datetime.timezone.utc


class BranchDateTimeOperator(BaseBranchOperator):
    def __init__(
        self,
        *,
        follow_task_ids_if_true,
        follow_task_ids_if_false,
        target_lower,
        target_upper,
        use_task_logical_date: bool = False,
        use_task_execution_date: bool = False,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        if target_lower is None and target_upper is None:
            raise AirflowException(
                "Both target_upper and target_lower are None. At least one must be defined to be compared to the "
                "current datetime"
            )
        self.target_lower = target_lower
        self.target_upper = target_upper
        self.follow_task_ids_if_true = follow_task_ids_if_true
        self.follow_task_ids_if_false = follow_task_ids_if_false
        self.use_task_logical_date = use_task_logical_date or use_task_execution_date

    def choose_branch(self, context):
        now = context["logical_date"] if self.use_task_logical_date else datetime.datetime.now(_UTC)
        lower, upper = target_times_as_dates(now, self.target_lower, self.target_upper)
        inside = (upper is None or now <= upper) and (lower is None or now >= lower)
        return self.follow_task_ids_if_true if inside else self.follow_task_ids_if_false


def target_times_as_dates(base_date, lower, upper):
    """Times of day become moments around `base_date`; an upper time before the lower one is tomorrow's."""
    if isinstance(lower, datetime.datetime) and isinstance(upper, datetime.datetime):
        return _aware(lower), _aware(upper)
    if isinstance(lower, datetime.time):
        lower = datetime.datetime.combine(base_date, lower)
    if isinstance(upper, datetime.time):
        upper = datetime.datetime.combine(base_date, upper)
    lower, upper = _aware(lower), _aware(upper)
    if lower is not None and upper is not None and upper < lower:
        upper += datetime.timedelta(days=1)
    return lower, upper


def _aware(value):
    return value.replace(tzinfo=_UTC) if value is not None and value.tzinfo is None else value
