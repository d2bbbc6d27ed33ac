"""The loop of the triggerer: begins and gives up triggers as it is told, and tells their events."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import signal
import traceback

from ..run import current, logs
from ..run.helpers import import_string
from ..run.outcome import Outcome
from ..run.triggers import BaseTaskEndEvent, TriggerEvent
from ..run.xcom_values import decode, encode
from .connection import Connection, current_order
from .secrets import TriggerSecrets
from .shared_streams import SharedStreams
from .spec_values import from_spec
from .trigger_logs import TriggerLogs
from .watchdog import Watchdog

_log = logging.getLogger("triggerer")
_CLEANUP_PATIENCE = 5.0
_KILL_PATIENCE = 30.0
_WATCHER_PAUSE = 10.0


class TriggerInstance:
    """As much of the task instance as a trigger can know without a process of its task."""

    def __init__(self, order: dict) -> None:
        self.dag_id = order["dag_id"]
        self.run_id = order["run_id"]
        self.task_id = order["task_id"]
        self.map_index = order["map_index"]
        self.try_number = order["try_number"]


class Runner:
    def __init__(self, connection: Connection, loop: asyncio.AbstractEventLoop) -> None:
        self._connection = connection
        self._loop = loop
        self.logs = TriggerLogs(connection, loop)
        self._running: dict[int, asyncio.Task] = {}
        self._orders: dict[asyncio.Task, dict] = {}
        # Triggers whose tasks a person has cleared or marked.
        self._killed: set[int] = set()
        self._streams = SharedStreams()
        self._leaving = asyncio.Event()

    def leave(self) -> None:
        self._leaving.set()

    async def run(self) -> None:
        leaving = self._loop.create_task(self._leaving.wait())
        while not self._leaving.is_set():
            known = [number for number in self._running if number not in self._killed]
            asking = self._loop.create_task(
                self._connection.ask("next_triggers", known=known, stopping=list(self._killed))
            )
            await asyncio.wait([asking, leaving], return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                break
            orders = asking.result()
            self._killed.update(set(orders.get("kill", ())) & set(self._running))
            for trigger in orders["cancel"]:
                self._cancel(trigger)
            for order in orders["start"]:
                self._begin(order)
            if orders["end"]:
                break
        await self._end()

    def _begin(self, order: dict) -> None:
        if order["id"] in self._running:
            return
        task = self._loop.create_task(self._run_trigger(order), name=f"{order['class_path']} (trigger {order['id']})")
        self._running[order["id"]] = task
        self._orders[task] = order

        def forget(done: asyncio.Task) -> None:
            self._orders.pop(done, None)
            self._killed.discard(order["id"])
            if self._running.get(order["id"]) is done:
                del self._running[order["id"]]

        task.add_done_callback(forget)

    def _cancel(self, trigger: int) -> None:
        task = self._running.get(trigger)
        if task is not None:
            task.cancel()

    async def _end(self) -> None:
        for trigger in list(self._running):
            self._cancel(trigger)
        if self._running:
            await asyncio.wait(list(self._running.values()), timeout=_CLEANUP_PATIENCE)

    def blocked(self, task: asyncio.Task, seconds: float, stack: str) -> None:
        """From the watchdog's thread: in the log of the task whose trigger it is."""
        token = current_order.set(self._orders.get(task))
        try:
            _log.warning(
                "The event loop of the triggerer was blocked for %.2f seconds by %s: use await, or a thread, for what takes time\n%s",
                seconds,
                task.get_name(),
                stack,
            )
        finally:
            current_order.reset(token)

    async def _run_trigger(self, order: dict) -> None:
        current_order.set(order)
        trigger = None
        try:
            trigger = await asyncio.to_thread(build_trigger, order)
            _log.info("trigger %s starting", trigger)
            await self._wait_for_events(order, trigger)
        except asyncio.CancelledError:
            # Nothing waits for it any more, or this process leaves.
            if trigger is not None and order["id"] in self._killed:
                await self._kill(order, trigger)
        except BaseException as error:
            if isinstance(error, (SystemExit, KeyboardInterrupt)) and self._leaving.is_set():
                return
            _log.error("Trigger failed: %s", error, exc_info=error)
            lines = [line.rstrip("\n") for line in traceback.format_exception(error)]
            await self._fire(order, {"error": "Trigger failure", "traceback": lines})
            if order["kind"] == "asset":
                await asyncio.sleep(_WATCHER_PAUSE)  # begun anew when this has ended: not in a circle
        finally:
            await self._clean_up(order, trigger)

    async def _wait_for_events(self, order: dict, trigger) -> None:
        events = self._streams.events_of(trigger)
        try:
            async for event in events:
                if not isinstance(event, TriggerEvent):
                    raise TypeError(
                        f"a trigger must yield TriggerEvent objects, and {order['class_path']} gave a {type(event).__name__}"
                    )
                _log.info("Trigger fired event: %s", event)
                await self._fire(order, message_of(event))
                if order["kind"] != "asset":
                    return
        finally:
            with contextlib.suppress(RuntimeError):
                await events.aclose()
        if order["kind"] != "asset":
            raise RuntimeError("Trigger exited without sending an event. Dependent tasks will be failed.")

    async def _fire(self, order: dict, event: dict) -> None:
        """Once told, it is told until it is answered: the agent repeats it. What nobody waits for is not an error."""
        await self.logs.flush(order["id"])
        await asyncio.shield(self._connection.ask("fire_trigger", trigger=order["id"], event=json.dumps(event)))

    async def _kill(self, order: dict, trigger) -> None:
        on_kill = getattr(trigger, "on_kill", None)
        if on_kill is None:
            return
        try:
            await asyncio.wait_for(on_kill(), _KILL_PATIENCE)
        except Exception as error:
            _log.warning("on_kill() of %s failed: %s", order["class_path"], error, exc_info=error)

    async def _clean_up(self, order: dict, trigger) -> None:
        if trigger is not None:
            try:
                await asyncio.wait_for(trigger.cleanup(), _CLEANUP_PATIENCE)
            except BaseException as error:
                _log.error("cleanup() of %s failed: %s", order["class_path"], error, exc_info=error)
        await self.logs.flush(order["id"])


def build_trigger(order: dict):
    kind = import_string(order["class_path"])  # first: values in the arguments may be of classes that it brings along
    kwargs = json.loads(order["kwargs"])
    # Of a deferred task as it encoded them; of watchers and callbacks as they were compiled.
    trigger = kind(**(decode(kwargs) if order["kind"] == "task" else from_spec(kwargs)))
    trigger.trigger_id = order["id"]
    trigger.svc_order = order
    if order["kind"] == "task":
        trigger.task_instance = TriggerInstance(order)
    return trigger


def message_of(event: TriggerEvent) -> dict:
    if not isinstance(event, BaseTaskEndEvent):
        return {"payload": encode(event.payload)}
    xcoms = {key: encode(value) for key, value in (event.xcoms or {}).items()}
    return {"ends": event.task_instance_state, "xcoms": xcoms}


def run_triggerer(job: dict, channel) -> Outcome:
    connection = Connection(channel)
    current.secrets_source = TriggerSecrets(connection, job)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        runner = Runner(connection, loop)
        loop.add_signal_handler(signal.SIGTERM, runner.leave)
        logs.sink.route = runner.logs.take
        watchdog = Watchdog(loop, runner.blocked)
        watchdog.start()
        try:
            await runner.run()
        finally:
            watchdog.stop()
            logs.sink.route = None

    asyncio.run(main())
    return Outcome()
