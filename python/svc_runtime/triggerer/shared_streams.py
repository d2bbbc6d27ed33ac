"""Streams that several triggers share. One task reads the stream and gives each raw event to all its triggers.

A stream begins with its first trigger and ends with its last one. When it fails, or ends by itself, all its triggers fail.
"""

from __future__ import annotations

import asyncio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import Any

# Raw events that a trigger has not taken yet. A trigger that is slower than its stream fails.
_MOST_EVENTS = 1024


class StreamEnded(Exception):
    """The shared stream ended without an error. It must not end."""


class TooSlow(Exception):
    """The trigger takes its raw events too slowly."""


class _Stream:
    def __init__(self) -> None:
        self.queues: dict[object, asyncio.Queue] = {}
        self.reader: asyncio.Task | None = None

    async def read(self, events) -> None:
        try:
            async for event in events:
                for reader in list(self.queues):
                    self._put(reader, event)
            raise StreamEnded("the shared stream has ended, and must not end by itself")
        except Exception as error:
            self.fail(error)
        finally:
            await events.aclose()

    def _put(self, reader: object, event: Any) -> None:
        queue = self.queues[reader]
        if queue.qsize() >= _MOST_EVENTS:
            del self.queues[reader]
            queue.put_nowait((None, TooSlow(f"the trigger has not taken {_MOST_EVENTS} events of its shared stream")))
        else:
            queue.put_nowait((event, None))

    def fail(self, error: Exception) -> None:
        for queue in self.queues.values():
            queue.put_nowait((None, error))
        self.queues.clear()


class SharedStreams:
    def __init__(self) -> None:
        self._streams: dict[Hashable, _Stream] = {}

    def events_of(self, trigger) -> Any:
        """Returns the events of the trigger: from its run(), or from the stream that it shares."""
        key_of = getattr(trigger, "shared_stream_key", None)
        key = key_of() if key_of is not None else None
        if key is None:
            return trigger.run()
        if _confirms(type(trigger)):
            raise NotImplementedError(
                f"{type(trigger).__name__} overrides create_shared_stream_producer(), which is not supported: "
                "implement open_shared_stream() instead, or return None from shared_stream_key()"
            )
        return trigger.filter_shared_stream(self._raw_events(trigger, key))

    async def _raw_events(self, trigger, key: Hashable):
        stream = self._streams.get(key)
        queue: asyncio.Queue = asyncio.Queue()
        if stream is None:
            stream = self._streams[key] = _Stream()
        reader = object()
        stream.queues[reader] = queue
        if stream.reader is None:
            events = type(trigger).open_shared_stream(trigger.serialize()[1])
            stream.reader = asyncio.create_task(stream.read(events), name=f"shared stream {key!r}")
            stream.reader.add_done_callback(lambda _: self._forget(key, stream))
        try:
            while True:
                event, error = await queue.get()
                if error is not None:
                    raise error
                yield event
        finally:
            stream.queues.pop(reader, None)
            if not stream.queues:
                self._forget(key, stream)
                stream.reader.cancel()

    def _forget(self, key: Hashable, stream: _Stream) -> None:
        """A trigger that comes later begins another stream."""
        if self._streams.get(key) is stream:
            del self._streams[key]


def _confirms(kind: type) -> bool:
    from ..run.triggers import BaseEventTrigger

    own = [one for one in kind.__mro__ if one is not BaseEventTrigger]
    return any("create_shared_stream_producer" in vars(one) for one in own)
