"""Trigger base classes: recorded for asset watchers, passed on by deferring operators."""

from __future__ import annotations

from .hooks import LoggingMixin


class BaseTrigger(LoggingMixin):
    def __init__(self, **kwargs) -> None:
        super().__init__()
        self.svc_arguments = ((), kwargs)

    def serialize(self) -> tuple:
        return f"{type(self).__module__}.{type(self).__qualname__}", self.svc_arguments[1]

    async def run(self):
        raise NotImplementedError("Triggers must implement run()")
        yield  # type: ignore[unreachable]  # makes it a generator

    async def cleanup(self) -> None:
        """Called when the trigger ends, in whatever way."""


class BaseEventTrigger(BaseTrigger):
    supports_triggerer_queue = False


class TriggerEvent:
    def __init__(self, payload) -> None:
        self.payload = payload

    def __eq__(self, other) -> bool:
        return isinstance(other, TriggerEvent) and other.payload == self.payload

    def __repr__(self) -> str:
        return f"TriggerEvent<{self.payload!r}>"


class StartTriggerArgs:
    def __init__(self, trigger_cls: str, next_method: str, trigger_kwargs=None, next_kwargs=None, timeout=None) -> None:
        self.trigger_cls = trigger_cls
        self.next_method = next_method
        self.trigger_kwargs = trigger_kwargs
        self.next_kwargs = next_kwargs
        self.timeout = timeout
