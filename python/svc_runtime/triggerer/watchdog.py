"""Notices a trigger that blocks the event loop: all others wait while it does, so its author must hear of it."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import traceback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_PACE = 0.1
_BLOCKED = 0.5


class Watchdog:
    """`blocked(name, seconds, stack)` is called once for each time, from a thread of its own, while the loop is blocked."""

    def __init__(self, loop: asyncio.AbstractEventLoop, blocked: Callable[[asyncio.Task, float, str], None]) -> None:
        self._loop = loop
        self._blocked = blocked
        self._seen = time.monotonic()
        self._thread = threading.get_ident()
        self._is_over = threading.Event()

    def start(self) -> None:
        self._beat()
        threading.Thread(target=self._watch, name="svc watchdog", daemon=True).start()

    def stop(self) -> None:
        self._is_over.set()

    def _beat(self) -> None:
        self._seen = time.monotonic()
        if not self._is_over.is_set():
            self._loop.call_later(_PACE, self._beat)

    def _watch(self) -> None:
        told = 0.0
        while not self._is_over.wait(_PACE):
            seen = self._seen
            seconds = time.monotonic() - seen
            if seconds < _BLOCKED or told == seen:
                continue
            told = seen
            task = asyncio.current_task(self._loop)
            frame = sys._current_frames().get(self._thread)
            if task is not None:
                self._blocked(task, seconds, "".join(traceback.format_stack(frame, limit=8)) if frame else "")
