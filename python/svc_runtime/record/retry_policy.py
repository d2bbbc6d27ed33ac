"""Retry policies: what follows a failure is decided by the exception. They are asked in the process of the task.

exception ─▶ evaluate ─┬─ RETRY    another try, after the decision's delay or the task's, while tries are left
                       ├─ FAIL     the task fails, whatever tries are left
                       └─ DEFAULT  as without a policy
"""

from __future__ import annotations

import enum
import logging
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import timedelta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class RetryAction(enum.Enum):
    RETRY = "retry"
    FAIL = "fail"
    DEFAULT = "default"


@dataclass(frozen=True)
class RetryDecision:
    action: RetryAction = RetryAction.DEFAULT
    retry_delay: timedelta | None = None
    reason: str | None = None

    @classmethod
    def retry(cls, delay: timedelta | None = None, reason: str | None = None) -> RetryDecision:
        return cls(RetryAction.RETRY, delay, reason)

    @classmethod
    def fail(cls, reason: str | None = None) -> RetryDecision:
        return cls(RetryAction.FAIL, None, reason)

    @classmethod
    def default(cls) -> RetryDecision:
        return cls()


class RetryPolicy(ABC):
    """Inherited by policies of authors."""

    @abstractmethod
    def evaluate(self, exception: BaseException, try_number: int, max_tries: int, context=None) -> RetryDecision: ...

    def serialize(self) -> dict[str, Any]:
        raise NotImplementedError(f"{type(self).__name__} does not implement serialize()")

    @classmethod
    def deserialize(cls, data: dict[str, Any]) -> RetryPolicy:
        raise NotImplementedError(f"{cls.__name__} does not implement deserialize()")


@dataclass
class RetryRule:
    """`exception`: a class, a dotted path, or a list of them. A path is imported when an exception is compared with it."""

    exception: type[BaseException] | str | list[type[BaseException] | str]
    action: RetryAction = RetryAction.RETRY
    retry_delay: timedelta | None = None
    reason: str | None = None
    match_subclasses: bool = True

    def __post_init__(self) -> None:
        for spec in self._specs:
            if isinstance(spec, str):
                if "." not in spec.strip("."):
                    raise ValueError(
                        "RetryRule exception string must be a dotted import path "
                        f"(e.g. 'builtins.ValueError'), got {spec!r}"
                    )
            elif not (isinstance(spec, type) and issubclass(spec, BaseException)):
                raise TypeError(f"RetryRule exception must be an exception class or its dotted path, got {spec!r}")
        if not isinstance(self.action, RetryAction):
            raise TypeError(f"RetryRule action must be a RetryAction, got {self.action!r}")
        if self.retry_delay is not None and not isinstance(self.retry_delay, timedelta):
            raise TypeError(f"RetryRule retry_delay must be a timedelta, got {self.retry_delay!r}")

    @property
    def _specs(self) -> list:
        return list(self.exception) if isinstance(self.exception, (list, tuple)) else [self.exception]

    @property
    def exception_path(self) -> str:
        return ",".join(map(_path, self._specs))

    def matches(self, exc: BaseException) -> bool:
        return any(self._is(exc, spec) for spec in self._specs)

    def _is(self, exc: BaseException, spec) -> bool:
        if isinstance(spec, str):
            spec = _imported(spec)
        if spec is None:
            return False
        return isinstance(exc, spec) if self.match_subclasses else type(exc) is spec

    def serialize(self) -> dict[str, Any]:
        paths = [_path(spec) for spec in self._specs]
        written: dict[str, Any] = {
            "exception": paths if isinstance(self.exception, (list, tuple)) else paths[0],
            "action": self.action.value,
            "match_subclasses": self.match_subclasses,
        }
        if self.retry_delay is not None:
            written["retry_delay"] = self.retry_delay.total_seconds()
        if self.reason is not None:
            written["reason"] = self.reason
        return written

    @classmethod
    def deserialize(cls, data: dict[str, Any]) -> RetryRule:
        delay = data.get("retry_delay")
        return cls(
            exception=data["exception"],
            action=RetryAction(data.get("action", "retry")),
            retry_delay=None if delay is None else timedelta(seconds=delay),
            reason=data.get("reason"),
            match_subclasses=data.get("match_subclasses", True),
        )


class ExceptionRetryPolicy(RetryPolicy):
    """The first rule that matches decides; without one, `default` does."""

    def __init__(self, rules: list[RetryRule], default: RetryAction = RetryAction.DEFAULT) -> None:
        for rule in rules:
            if not isinstance(rule, RetryRule):
                raise TypeError(f"ExceptionRetryPolicy takes a list of RetryRule, got {rule!r}")
        if not isinstance(default, RetryAction):
            raise TypeError(f"ExceptionRetryPolicy default must be a RetryAction, got {default!r}")
        self.rules = list(rules)
        self.default = default

    def evaluate(self, exception: BaseException, try_number: int, max_tries: int, context=None) -> RetryDecision:
        for rule in self.rules:
            if rule.matches(exception):
                reason = rule.reason or f"Matched rule for {type(exception).__name__}"
                return RetryDecision(rule.action, rule.retry_delay, reason)
        return RetryDecision(self.default)

    def serialize(self) -> dict[str, Any]:
        rules = [rule.serialize() for rule in self.rules]
        return {"__type": "ExceptionRetryPolicy", "rules": rules, "default": self.default.value}

    @classmethod
    def deserialize(cls, data: dict[str, Any]) -> ExceptionRetryPolicy:
        rules = [RetryRule.deserialize(rule) for rule in data["rules"]]
        return cls(rules, RetryAction(data.get("default", "default")))


def _path(spec) -> str:
    return spec if isinstance(spec, str) else f"{spec.__module__}.{spec.__qualname__}"


def _imported(path: str) -> type[BaseException] | None:
    """None when it cannot be imported: the exception cannot be of that class then."""
    import importlib

    module, _, name = path.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        logging.getLogger("airflow.task").warning(
            "The exception %s of a retry rule cannot be imported, so it matches nothing", path
        )
        return None
    return found if isinstance(found, type) and issubclass(found, BaseException) else None
