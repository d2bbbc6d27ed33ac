"""BaseSensorOperator: wait by poking. The waiting itself is the runner's and the scheduler's business."""

from __future__ import annotations

import datetime
import time

from ..exceptions import (
    AirflowException,
    AirflowFailException,
    AirflowRescheduleException,
    AirflowSensorTimeout,
    AirflowSkipException,
    AirflowTaskTimeout,
    TaskDeferralError,
    TaskDeferralTimeout,
)
from . import waiting
from .operator import BaseOperator


class PokeReturnValue:
    """Truthiness is `is_done`; `xcom_value` becomes the task's value."""

    def __init__(self, is_done: bool, xcom_value=None) -> None:
        self.is_done = is_done
        self.xcom_value = xcom_value

    def __bool__(self) -> bool:
        return self.is_done


def _seconds(name: str, value, *, optional: bool = False):
    if value is None and optional:
        return None
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        raise AirflowException(
            f"Operator arg `{name}` must be timedelta object or a non-negative number, not {value!r}"
        )
    return value


class BaseSensorOperator(BaseOperator):
    ui_color = "#e6f1f2"
    valid_modes: tuple[str, ...] = ("poke", "reschedule")
    _is_sensor = True

    def __init__(
        self,
        *,
        poke_interval=60,
        timeout=7 * 24 * 60 * 60.0,
        soft_fail: bool = False,
        mode: str = "poke",
        exponential_backoff: bool = False,
        max_wait=None,
        silent_fail: bool = False,
        never_fail: bool = False,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.poke_interval = _seconds("poke_interval", poke_interval)
        self.timeout = _seconds("timeout", timeout)
        self.soft_fail = soft_fail
        self.mode = mode
        self.exponential_backoff = exponential_backoff
        self.max_wait = _seconds("max_wait", max_wait, optional=True)
        if soft_fail and never_fail:
            raise ValueError("soft_fail and never_fail are mutually exclusive, you can not provide both.")
        self.silent_fail = silent_fail
        self.never_fail = never_fail
        if mode not in self.valid_modes:
            raise AirflowException(
                f"The mode must be one of {self.valid_modes},'{self.dag_id}.{self.task_id}'; received '{mode}'."
            )

    @property
    def reschedule(self) -> bool:
        return self.mode == "reschedule"

    def poke(self, context):
        raise AirflowException("Override me.")

    def execute(self, context):
        """Poke until done. In reschedule mode one poke per attempt; the scheduler calls again later."""
        first_poke = getattr(context["ti"], "svc_first_poke_at", None)
        started = first_poke.timestamp() if first_poke is not None else time.time()
        tries = 1
        while True:
            try:
                result = self.poke(context)
            except AirflowSkipException:
                raise
            except (Exception, AirflowTaskTimeout) as error:
                # What is meant to end it (AirflowFailException, a timeout) is what soft_fail is for; any other mistake is not.
                is_meant = isinstance(error, (AirflowFailException, AirflowSensorTimeout, AirflowTaskTimeout))
                if self.never_fail or (self.soft_fail and is_meant):
                    which = "soft_fail" if self.soft_fail else "never_fail"
                    raise AirflowSkipException(f"Skipping due to {which} is set to True.") from error
                if is_meant or not self.silent_fail:
                    raise
                self.log.exception("Sensor poke failed; trying again because silent_fail is set")
                result = False
            if result:
                return result.xcom_value if isinstance(result, PokeReturnValue) else None
            waited = waiting.waited(time.time() - started, self.timeout)
            if waited > self.timeout:
                message = f"Sensor has timed out; run duration of {waited} seconds exceeds the specified timeout of {self.timeout}."
                if self.soft_fail or self.never_fail:
                    raise AirflowSkipException(message)
                raise AirflowSensorTimeout(message)
            pause = self._next_pause(tries)
            # A deferrable sensor waits without a slot too; here it is the scheduler that waits for it.
            if self.reschedule or getattr(self, "deferrable", False):
                raise AirflowRescheduleException(self._next_moment(context, pause))
            waiting.pause(pause)
            tries += 1

    def resume_execution(self, next_method: str, next_kwargs: dict | None, context):
        """What a deferred sensor could not wait for is a sensor that timed out, and may be forgiven like one."""
        try:
            return super().resume_execution(next_method, next_kwargs, context)
        except TaskDeferralTimeout as error:
            if self.soft_fail or self.never_fail:
                raise AirflowSkipException(str(error)) from error
            raise AirflowSensorTimeout(*error.args) from error
        except (AirflowException, TaskDeferralError) as error:
            if self.soft_fail and not isinstance(error, (AirflowSkipException, AirflowFailException)):
                raise AirflowSkipException(str(error)) from error
            raise

    def _next_moment(self, context, pause: float) -> datetime.datetime:
        """When to look again: after the pause, or exactly when the wait is over if the sensor knows."""
        known = self.svc_moment(context) if getattr(self, "deferrable", False) else None
        return known or datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=pause)

    def svc_moment(self, context) -> datetime.datetime | None:
        """For sensors that wait for a point in time."""
        return None

    def _next_pause(self, tries: int) -> float:
        if not self.exponential_backoff:
            return self.poke_interval
        pause = min(self.poke_interval * 2 ** min(tries - 1, 30), self.timeout)
        return min(pause, self.max_wait) if self.max_wait is not None else pause


def poke_mode_only(cls):
    """Class decorator: refuses reschedule mode."""
    if not isinstance(cls, type) or not issubclass(cls, BaseSensorOperator):
        raise ValueError("poke_mode_only decorator should only be applied to subclasses of BaseSensorOperator")
    cls.valid_modes = ("poke",)
    return cls
