"""The triggerer's end of the connection to the agent: many questions at once, from the event loop and from threads."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from concurrent.futures import Future

from ..run.channel import AgentGone, Channel, RequestFailed
from ..run.masks import masks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What the trigger that runs in this context was ordered with; None in the triggerer's own code.
current_order: contextvars.ContextVar[dict | None] = contextvars.ContextVar("svc_trigger", default=None)


class Connection:
    """A thread reads the answers, so that a trigger that asks in the middle of the event loop gets one, too."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._waiting: dict[int, Future] = {}
        self._lock = threading.Lock()
        self._last = 0
        threading.Thread(target=self._read, name="svc answers", daemon=True).start()

    @property
    def is_ours(self) -> bool:
        return self._channel.is_ours

    def _read(self) -> None:
        try:
            while True:
                reply = self._channel.receive()
                with self._lock:
                    future = self._waiting.pop(int(reply.get("id") or 0), None)
                if future is not None and not future.cancelled():
                    future.set_result(reply)
        except (AgentGone, OSError):
            os._exit(71)

    def _ask(self, method: str, params: dict) -> Future:
        order = current_order.get()
        if order is not None and "trigger" not in params:
            params = {**params, "trigger": order["id"]}
        future: Future = Future()
        with self._lock:
            self._last += 1
            number = self._last
            self._waiting[number] = future
        self._channel.send({"type": "request", "id": number, "method": method, "params": params})
        return future

    @staticmethod
    def _value(method: str, reply: dict) -> Any:
        for secret in reply.get("masks") or ():
            masks.add(secret)
        if not reply.get("ok"):
            raise RequestFailed(str(reply.get("error") or f"{method} failed"), str(reply.get("code") or ""))
        return reply.get("value")

    def request(self, method: str, **params) -> Any:
        """Waits in this thread: for hooks that know nothing of event loops."""
        return self._value(method, self._ask(method, params).result())

    async def ask(self, method: str, **params) -> Any:
        return self._value(method, await asyncio.wrap_future(self._ask(method, params)))
