"""Trigger base classes. Operators make triggers and hand them over; a triggerer runs them (svc_runtime.triggerer)."""

from __future__ import annotations

from .hooks import LoggingMixin


class BaseTrigger(LoggingMixin):
    supports_triggerer_queue = True
    # Set by the triggerer.
    task_instance = None
    trigger_id: int | None = None
    svc_order: dict = {}

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

    async def on_kill(self) -> None:
        """Called when a person clears or marks the task. Not at a timeout, and not when the triggerer stops."""

    @staticmethod
    def repr(classpath: str, kwargs: dict) -> str:
        return f"<{classpath} {', '.join(f'{name}={value}' for name, value in kwargs.items())}>"

    def __repr__(self) -> str:
        return self.repr(*self.serialize())


class BaseEventTrigger(BaseTrigger):
    """A trigger of an asset watcher. Triggers with the same `shared_stream_key` share one stream of raw events."""

    supports_triggerer_queue = False

    def shared_stream_key(self):
        """Equal keys share a stream. None: the trigger runs by itself."""
        return

    @classmethod
    def open_shared_stream(cls, kwargs: dict):
        """Yields raw events and does not end. Called once for all triggers with the same key."""
        raise NotImplementedError(f"{cls.__name__} has a shared_stream_key and must implement open_shared_stream()")

    @classmethod
    def create_shared_stream_producer(cls, kwargs: dict):
        """A class that overrides this is refused: the triggerer does not confirm events to a broker."""
        raise NotImplementedError(
            f"{cls.__name__}: create_shared_stream_producer() is not supported; use open_shared_stream()"
        )

    def filter_shared_stream(self, shared_stream):
        """Yields the events of this trigger, made from the raw events of the stream."""
        raise NotImplementedError(
            f"{type(self).__name__} has a shared_stream_key and must implement filter_shared_stream()"
        )

    @staticmethod
    def hash(classpath: str, kwargs: dict) -> int:
        import hashlib
        import json

        from .xcom_values import encode

        text = json.dumps([classpath, encode(dict(kwargs))], sort_keys=True)
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)


class TriggerEvent:
    def __init__(self, payload) -> None:
        self.payload = payload

    def __eq__(self, other) -> bool:
        return isinstance(other, TriggerEvent) and other.payload == self.payload

    def __repr__(self) -> str:
        return f"TriggerEvent<{self.payload!r}>"


class BaseTaskEndEvent(TriggerEvent):
    """Ends the task that waits for the trigger; no worker is started for it."""

    task_instance_state = ""

    def __init__(self, *, xcoms: dict | None = None, **kwargs) -> None:
        if "payload" in kwargs:
            raise ValueError("Param 'payload' not supported for this class.")
        super().__init__(payload=self.task_instance_state)
        self.xcoms = xcoms


class TaskSuccessEvent(BaseTaskEndEvent):
    task_instance_state = "success"


class TaskFailedEvent(BaseTaskEndEvent):
    task_instance_state = "failed"


class TaskSkippedEvent(BaseTaskEndEvent):
    task_instance_state = "skipped"


class StartTriggerArgs:
    def __init__(self, trigger_cls: str, next_method: str, trigger_kwargs=None, next_kwargs=None, timeout=None) -> None:
        self.trigger_cls = trigger_cls
        self.next_method = next_method
        self.trigger_kwargs = trigger_kwargs
        self.next_kwargs = next_kwargs
        self.timeout = timeout
