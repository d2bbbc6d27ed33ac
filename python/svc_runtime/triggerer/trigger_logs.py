"""What triggers say goes to the logs of the tasks that wait for them; what nobody's trigger says, to the agent."""

from __future__ import annotations

import asyncio
import contextlib
import threading

from ..run.channel import RequestFailed
from .connection import Connection, current_order

_SOON = 0.1
_AT_ONCE = 200


class TriggerLogs:
    def __init__(self, connection: Connection, loop: asyncio.AbstractEventLoop) -> None:
        self._connection = connection
        self._loop = loop
        self._lock = threading.Lock()
        self._waiting: dict[int, list] = {}

    def take(self, records: list) -> bool:
        """Called by the sink, in any thread: whether the records are a trigger's."""
        order = current_order.get()
        if order is None:
            return False
        trigger = order["id"]
        with self._lock:
            known = self._waiting.setdefault(trigger, [])
            is_first = not known
            known += records
        if is_first:
            self._loop.call_soon_threadsafe(self._later, trigger)
        return True

    def _later(self, trigger: int) -> None:
        self._loop.call_later(_SOON, lambda: self._loop.create_task(self.flush(trigger)))

    async def flush(self, trigger: int) -> None:
        with self._lock:
            records = self._waiting.pop(trigger, [])
        token = current_order.set(None)
        try:
            for start in range(0, len(records), _AT_ONCE):
                # The task may have been cleared meanwhile: then nobody wants the lines.
                with contextlib.suppress(RequestFailed):
                    await self._connection.ask(
                        "log_trigger", trigger=trigger, records=records[start : start + _AT_ONCE]
                    )
        finally:
            current_order.reset(token)
