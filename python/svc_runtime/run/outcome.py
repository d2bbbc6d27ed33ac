"""How an attempt ended, and the message that says so.

The child names only causes a task can witness (packages/spec/failure-causes.ts); that it was killed, ran too long or vanished
is for the agent to say, who saw it from outside.
"""

from __future__ import annotations

from ..exceptions import (
    AirflowFailException,
    AirflowRescheduleException,
    AirflowSensorTimeout,
    AirflowSkipException,
    DownstreamTasksSkipped,
    HITLTimeoutError,
    TaskDeferred,
    UnmappableXComTypePushed,
    XComForMappingNotPushed,
)
from .logs import clean, text_of
from .masks import masks
from .moments import iso
from .xcom_values import XComTooLarge

MAX_TEXT = 300


class Outcome:
    def __init__(self) -> None:
        self.state = "success"
        self.retryable = True
        # Seconds until the next try, if a retry policy has said so.
        self.retry_delay: float | None = None
        self.reschedule_at: str | None = None
        self.deferral: dict | None = None
        self.failure: dict | None = None
        self.error: BaseException | None = None
        self.xcoms: list = []
        self.skips: list = []
        self.asset_events: list = []
        self.rendered_fields: dict = {}
        self.rendered_map_index: str | None = None

    def message(self) -> dict:
        return {
            "type": "result",
            "state": self.state,
            "retryable": self.retryable,
            "retry_delay": self.retry_delay,
            "reschedule_at": self.reschedule_at,
            "deferral": self.deferral,
            "failure": self.failure,
            "xcoms": self.xcoms,
            "skips": self.skips,
            "asset_events": self.asset_events,
            "rendered_fields": self.rendered_fields,
            "rendered_map_index": self.rendered_map_index,
        }

    def ended_by(self, error: BaseException) -> None:
        """The exception that left the body decides the state."""
        self.error = error
        if isinstance(error, AirflowSkipException):
            self.state = "skipped"
        elif isinstance(error, DownstreamTasksSkipped):
            self.error = None
            self.skips = _task_ids(error.tasks)
        elif isinstance(error, AirflowRescheduleException):
            self.state = "reschedule"
            self.reschedule_at = iso(error.reschedule_date)
        elif isinstance(error, TaskDeferred):
            self._defer(error)
        else:
            self.fail(error)

    def _defer(self, deferred: TaskDeferred) -> None:
        from .deferral import deferral_of

        try:
            self.deferral = deferral_of(deferred)
            self.state = "deferred"
            self.error = None
        except Exception as error:  # a trigger that cannot be written down cannot be waited for
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        self.state = "failed"
        self.error = error
        cause = "exception"
        if isinstance(error, AirflowSensorTimeout):
            cause = "sensor_timeout"
        elif isinstance(error, HITLTimeoutError):
            cause = "unanswered"
        elif isinstance(error, AirflowFailException):
            cause = "failed_without_retry"
        elif isinstance(error, XComTooLarge):
            cause = "xcom_too_large"
        elif isinstance(error, (UnmappableXComTypePushed, XComForMappingNotPushed)):
            cause = "unmappable_value"
        elif getattr(type(error), "svc_cause", None) == "dbt_failed":
            cause = "dbt_failed"  # dbt/results.py, which most processes never load
        self.retryable = cause not in ("sensor_timeout", "failed_without_retry")
        self.failure = {"cause": cause, "text": failure_text(error)}

    def apply(self, decision) -> None:
        """What the retry policy of the task has decided about a failure."""
        if not self.retryable or self.failure is None:
            return
        action = decision.action.value
        if action == "fail":
            self.retryable = False
            self.failure["cause"] = "failed_without_retry"
        elif action == "retry" and decision.retry_delay is not None:
            self.retry_delay = max(0.0, decision.retry_delay.total_seconds())
        if decision.reason:
            said = clean(masks.apply(str(decision.reason)))
            self.failure["text"] = shortened(
                f"{self.failure['text']} (retry policy: {action}, {' '.join(said.split())})"
            )


def _task_ids(tasks) -> list:
    """Ids, or (id, map index) pairs as some operators write them."""
    return sorted(
        {task if isinstance(task, str) else task[0] for task in ([tasks] if isinstance(tasks, str) else tasks)}
    )


def failure_text(error: BaseException) -> str:
    """`ValueError: message` on one line. Masked before it is cut: half a secret is still half a secret."""
    detail = " ".join(clean(masks.apply(text_of(error))).split())
    name = type(error).__name__
    return shortened(f"{name}: {detail}" if detail else name)


def shortened(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"
