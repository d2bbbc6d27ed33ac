"""A run on the clock of a test, which moves to the moment that is waited for. Waits therefore take no time.

next task? ─▶ run it; the clock moves by what the test says that it takes
     └─ none ─▶ a trigger fires by itself ─▶ next task?
                    └─ none ─▶ the clock moves to the next retry, poke, trigger, timeout or deadline ─▶ next task?
"""

from __future__ import annotations

import asyncio
import datetime
import json
import threading
import traceback

from ..dag_test.local_channel import LocalChannel, LocalSecrets
from ..dag_test.local_run import LocalRun, Place
from ..enums import TaskInstanceState
from ..record import waiting
from ..record.deadline import AsyncCallback
from ..record.timezones import parse_iso
from ..run.asset_events import AssetEvent
from ..run.helpers import import_string
from ..run.logs import say
from ..run.moments import iso, moment
from ..run.outcome import Outcome
from ..run.xcom_transfer import Values
from .answers import People
from .author_line import author_line
from .clock import read_moment
from .production import production_answers
from .results import MissedDeadline, RunResult, TaskResult
from .task_log import TaskLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .clock import Clock
    from .debuggers import Debug
    from .given import Given

# A trigger of the author may have real work. After this, the test goes on with what is next on the clock.
_TRIGGER_PATIENCE_SECONDS = 1.0
_TIMED_OUT = {"error": "Trigger timeout"}


class VirtualRun(LocalRun):
    def __init__(self, dag, given: Given, clock: Clock, debug: Debug | None = None) -> None:
        secrets = LocalSecrets(given.variables, given.connections)
        super().__init__(dag, given.run, secrets, None)
        self._clock = clock
        self._debug = debug
        self._test = given
        self._people = People(given.answers, self._now)
        self._store.answers = {"ask_person": self._people.ask, "asset_events": self._asset_events}
        if given.ask is not None:
            self._store.answers |= production_answers(secrets, given.ask)
        self._store.events.add(given.events, {})
        self._logs: dict[Place, TaskLog] = {}
        self._outcomes: dict[Place, Outcome] = {}
        # Moments of the clock that deferred instances wait for, with the event of each.
        self._timed: dict[Place, tuple[datetime.datetime, dict]] = {}
        self._deadlines: list[tuple[datetime.datetime, int]] = []
        self._missed: list[MissedDeadline] = []
        self._expand_over_given_values()
        if debug is not None or given.recorded is not None:
            self._leave_out_retries()
        if given.only is not None:
            self._let_only_run(given.only[0])

    def _expand_over_given_values(self) -> None:
        """A mapped task has as many instances as values, although the task that it is mapped over has none."""
        for task in self._spec["tasks"]:
            values = self._test.xcoms.get(task["task_id"])
            length = None if values is None else values.length
            if task["mapping"] is not None and length is not None:
                items: list[dict] = [{}] * length
                task["mapping"] |= {"kind": "expand_kwargs", "value": items, "length": length, "depends_on": []}
                task["mapping"].pop("arguments", None)

    def _leave_out_retries(self) -> None:
        """A debugger opens once for each task that fails, and a replay is of one try."""
        for task in self._spec["tasks"]:
            task["policy"]["retries"] = 0

    def _let_only_run(self, task_id: str) -> None:
        """Whatever the tasks before it would have done."""
        for task in self._spec["tasks"]:
            if task["task_id"] == task_id:
                task["policy"]["trigger_rule"] = "all_done"

    # -- the engine

    def _ask(self, **message) -> dict:
        if message["op"] == "open":
            self._deadlines = sorted(self._moments_of_deadlines())
            message["keepsDelays"] = self._clock.is_movable
            # The control plane has checked the conf. Here it may have masks.
            message["isChecked"] = self._test.recorded is not None
        return super()._ask(now=iso(self._now()), **message)

    def _interval(self) -> dict:
        return super()._interval() if self._test.interval is None else {"interval": self._test.interval}

    def _is_going_on(self) -> bool:
        return super()._is_going_on() and not self._has_only_ended()

    def _has_only_ended(self) -> bool:
        if self._test.only is None:
            return False
        task_id, map_index = self._test.only
        states = [
            one["state"]
            for (own, index), one in self._shown.items()
            if own == task_id and (map_index is None or index in (map_index, -1))
        ]
        return all(state in _FINISHED for state in states)

    def _follow(self, step: dict) -> None:
        super()._follow(step)
        for place in list(self._timed):
            if self._shown[place]["state"] != "deferred":
                del self._timed[place]

    def _call_back(self) -> None:
        if self._test.only is None:
            super()._call_back()

    # -- time

    def _now(self) -> datetime.datetime:
        return self._clock.exact()

    def _go_on(self) -> None:
        if self._step["next"] is not None:
            super()._go_on()
            return
        upcoming = self._next_moment()
        if self._triggers:
            fired = self._triggers.next_event(self._patience(upcoming))
            if fired is not None:
                self._timed.pop(fired[0], None)
                self._resume(*fired)
                return
        if upcoming is None:
            super()._go_on()
            return
        at, place = upcoming
        self._advance(self._not_after_timeout(at))
        if place in self._timed:
            self._resume(place, self._timed.pop(place)[1])
        else:
            self._tell(place, op="due")

    def _patience(self, upcoming: tuple[datetime.datetime, Place] | None) -> float | None:
        if upcoming is None:
            return None
        if self._clock.is_movable:
            return _TRIGGER_PATIENCE_SECONDS
        return max(0.0, (upcoming[0] - self._now()).total_seconds())

    def _not_after_timeout(self, at: datetime.datetime) -> datetime.datetime:
        timeout = self._spec["dag"]["dagrun_timeout"]
        if timeout is None:
            return at
        return min(at, parse_iso(self._step["startDate"]) + datetime.timedelta(seconds=timeout))

    def _next_moment(self) -> tuple[datetime.datetime, Place] | None:
        found = [(at, place) for place, (at, _) in self._timed.items()]
        due = self._step["due"]
        if due is not None:
            found.append((parse_iso(due["at"]), (due["taskId"], due["mapIndex"])))
        return min(found, default=None)

    def _advance(self, at: datetime.datetime) -> None:
        """Moves the clock, over the deadlines of the run one by one."""
        while self._deadlines and self._deadlines[0][0] <= max(at, self._now()):
            deadline, position = self._deadlines.pop(0)
            if deadline > self._now():
                self._clock.move_to(deadline)
            self._miss(position)
        if at > self._now():
            self._clock.move_to(at)

    def _pause(self, seconds: float) -> None:
        self._advance(self._now() + datetime.timedelta(seconds=seconds))

    # -- deadlines

    def _moments_of_deadlines(self):
        for position, alert in enumerate(self._dag.deadline):
            reference = alert.reference
            if reference.name == "dagrun_logical_date":
                date = self._given["logical_date"]
                base = None if date is None else parse_iso(date)
            elif reference.name == "fixed_datetime":
                base = read_moment(reference.arguments["datetime"])
            else:  # the runs of the past have no average here
                base = self._now() if reference.name == "dagrun_queued_at" else None
            if base is not None:
                yield base + alert.interval, position

    def _miss(self, position: int) -> None:
        at = self._now()
        self._missed.append(MissedDeadline(position, moment(at)))
        callback = self._dag.deadline[position].callback
        if not isinstance(callback, AsyncCallback):
            self._call(f"deadline:{position}", f"the run had not ended by {iso(at)}")
            return
        from ..triggerer.callback import call

        target: Any = import_string(callback.callback) if isinstance(callback.callback, str) else callback.callback
        run_id = self._given["run_id"]
        run = {"dag_id": self._dag.dag_id, "dag_run_id": run_id, "run_id": run_id}
        deadline = {"id": str(position), "deadline_time": iso(at)}
        context = {"dag_run": run, "dag_id": run["dag_id"], "run_id": run_id, "deadline": deadline}
        # In a thread: the test may itself run in an event loop.
        thread = threading.Thread(target=lambda: _told(call(target, callback.kwargs, context)))
        thread.start()
        thread.join()

    # -- tasks

    def _stub_of(self, upcoming: dict) -> Outcome | None:
        task_id, map_index = upcoming["taskId"], upcoming["mapIndex"]
        if task_id in self._test.xcoms:
            outcome = Outcome()
            channel: Any = self._channel(self._common())
            values = Values(self._common(), channel)
            given = self._test.xcoms[task_id].of_instance(map_index)
            outcome.xcoms = [values.entry(key, value) for key, value in given.items()]
            return outcome
        if self._test.only is not None:
            only, index = self._test.only
            if task_id != only or (index is not None and map_index >= 0 and map_index != index):
                return Outcome()
        return None

    def _job_of(self, upcoming: dict) -> dict:
        job = super()._job_of(upcoming)
        if self._test.recorded is not None:
            self._test.recorded.complete(job)
        return job

    def _attempt(self, job: dict, channel: LocalChannel) -> Outcome:
        place = job["task_id"], job["map_index"]
        log = self._logs.setdefault(place, TaskLog())
        if job["try_number"] > 1 and "resume" not in job and job["first_poke_at"] is None:
            log.add(f"--- try {job['try_number']} ---")
        recorded = self._test.recorded
        over = recorded is not None and recorded.timed_out == waiting.SENSOR_TIMEOUT
        with log.kept(), waiting.waits_by(self._pause, is_over=over), self._clock.of_body():
            outcome = self._outcomes[place] = super()._attempt(job, channel)
        if outcome.state == "failed" and outcome.error is not None and self._debug is not None:
            self._debug(outcome.error, author_line(outcome.error, self._dag.fileloc))
        if isinstance(outcome.error, MemoryError):
            traceback.clear_frames(outcome.error.__traceback__)  # they hold what has filled the memory
        if outcome.state not in ("reschedule", "deferred"):
            self._advance(self._now() + self._test.takes.get(job["task_id"], datetime.timedelta(0)))
        return outcome

    def _wait_for(self, place: Place, job: dict, deferral: dict) -> None:
        ends = []
        if deferral["timeoutSeconds"] is not None:
            ends.append((self._now() + datetime.timedelta(seconds=deferral["timeoutSeconds"]), _TIMED_OUT))
        if deferral["firesAt"] is not None:
            ends.append((parse_iso(deferral["firesAt"]), json.loads(deferral["event"])))
            self._remember(place, deferral)
        else:
            super()._wait_for(place, job, {**deferral, "timeoutSeconds": None})
        if ends:
            self._timed[place] = min(ends, key=lambda end: end[0])

    def _asset_events(self, channel, triggering: bool = False, **wanted) -> list:
        return self._test.events if triggering else self._store.events.found(**wanted)

    # -- the result

    def _new_result(self, job: dict) -> RunResult:
        run = RunResult(job, self._dag)
        given = self._test.events
        run.asset_events = [AssetEvent(entry) for entry in self._store.events.found()[len(given) :]]
        run.missed_deadlines = self._missed
        return run

    def _new_instance(self, shown: dict, run, job: dict) -> TaskResult:
        place = task_id, map_index = shown["taskId"], shown["mapIndex"]
        task = TaskResult(shown, run, job, self._channel(job))
        task._log = self._logs.get(place)
        task._pushed = [entry["key"] for entry in self._store.xcoms.of_instance(task_id, map_index)]
        outcome = self._outcomes.get(place)
        if outcome is not None:
            task.error = outcome.error if outcome.state == "failed" else None
            task.line = author_line(task.error, self._dag.fileloc)
            task.rendered = outcome.rendered_fields
        return task


_FINISHED = {
    TaskInstanceState.SUCCESS,
    TaskInstanceState.FAILED,
    TaskInstanceState.SKIPPED,
    TaskInstanceState.UPSTREAM_FAILED,
    TaskInstanceState.REMOVED,
}


def _told(callback) -> None:
    try:
        asyncio.run(callback)
    except Exception as error:
        say("The callback of a deadline failed", error=error)
