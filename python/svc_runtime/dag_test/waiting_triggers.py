"""The triggers of deferred tasks, in an event loop of the calling process.

The loop runs only while no task can run. A trigger therefore needs no locks, and a breakpoint in it stops everything.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import json
import logging
import threading
import traceback

from ..record.timezones import parse_iso
from ..run import current
from ..run.secrets_source import AgentSecrets
from ..run.triggers import TriggerEvent
from ..triggerer.runner import build_trigger, message_of

_log = logging.getLogger("triggerer")
_TIMED_OUT = "Trigger timeout"


class WaitingTriggers:
    def __init__(self, source: AgentSecrets) -> None:
        self._loop = asyncio.new_event_loop()
        # By task id and map index.
        self._waiting: dict[tuple[str, int], asyncio.Task] = {}
        self._source = source
        self._last = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, place: tuple[str, int], order: dict, deferral: dict) -> None:
        self._last += 1
        self._waiting[place] = self._loop.create_task(_event_of({**order, "id": self._last, "kind": "task"}, deferral))

    def keep_only(self, places: set[tuple[str, int]]) -> None:
        """The run has ended the others."""
        for place in set(self._waiting) - places:
            self._waiting.pop(place).cancel()

    def next_event(self, patience: float | None) -> tuple[tuple[str, int], dict] | None:
        """The place and the event of the trigger that fires first; None when none does for so many seconds."""
        tasks = list(self._waiting.values())
        self._run(asyncio.wait(tasks, timeout=patience, return_when=asyncio.FIRST_COMPLETED))
        for place, task in self._waiting.items():
            if task.done():
                del self._waiting[place]
                return place, task.result()
        return None

    def close(self) -> None:
        self.keep_only(set())
        self._run(_all_but_me())
        self._loop.close()

    def _run(self, waited) -> None:
        """In a thread where the caller, such as a test of its own, runs in an event loop."""
        with current.restored():
            current.secrets_source = self._source
            try:
                asyncio.get_running_loop()
            except RuntimeError:
                self._loop.run_until_complete(_awaited(waited))
                return
            thread = threading.Thread(target=lambda: self._loop.run_until_complete(_awaited(waited)))
            thread.start()
            thread.join()


async def _awaited(waited):
    return await waited


async def _all_but_me() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def _event_of(order: dict, deferral: dict) -> dict:
    """The event as it is kept: of the trigger, or why there is none."""
    try:
        return await asyncio.wait_for(_first_event(order, deferral), deferral["timeoutSeconds"])
    except asyncio.TimeoutError:
        return {"error": _TIMED_OUT}
    except Exception as error:
        _log.error("Trigger failed: %s", error, exc_info=error)
        lines = [line.rstrip("\n") for line in traceback.format_exception(error)]
        return {"error": "Trigger failure", "traceback": lines}


async def _first_event(order: dict, deferral: dict) -> dict:
    if deferral["firesAt"] is not None:
        await asyncio.sleep(
            (parse_iso(deferral["firesAt"]) - datetime.datetime.now(datetime.timezone.utc)).total_seconds()
        )
        return json.loads(deferral["event"])
    trigger = build_trigger(order)
    _log.info("trigger %s starting", trigger)
    events = trigger.run()
    try:
        async for event in events:
            if not isinstance(event, TriggerEvent):
                raise TypeError(
                    f"a trigger must yield TriggerEvent objects, and {order['class_path']} gave a {type(event).__name__}"
                )
            _log.info("Trigger fired event: %s", event)
            return message_of(event)
        raise RuntimeError("Trigger exited without sending an event. Dependent tasks will be failed.")
    finally:
        with contextlib.suppress(RuntimeError):
            await events.aclose()
        await trigger.cleanup()
