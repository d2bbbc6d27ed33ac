"""One run of a DAG in this process. The engine decides what runs; the bodies run here, one at a time.

begin ─▶ next task? ─▶ run it, tell its end ─▶ next task? …
             └─ none ─▶ a trigger fires, a rescheduled sensor is due ─▶ next task?
             └─ the run has ended ─▶ callbacks of the DAG ─▶ the run
"""

from __future__ import annotations

import datetime
import json
import linecache
import logging
import os
import re
import time
import uuid

from ..ask_timetable import is_custom, manual_run
from ..compile.dag_spec import dag_spec
from ..exceptions import AirflowException
from ..record.timezones import parse_iso
from ..run import current, old_context
from ..run.attempt import run_callback_job
from ..run.moments import iso
from ..run.outcome import Outcome
from ..run.secrets_source import AgentSecrets
from ..run.xcom_transfer import item_count
from .engine import engine
from .local_attempt import LocalAttempt, LocalStopping
from .local_channel import LocalChannel, LocalSecrets, LocalStore
from .results import TestedDagRun, TestedTaskInstance
from .waiting_triggers import WaitingTriggers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..record.dag import DAG

_log = logging.getLogger("airflow.dag_test")
_UNLIMITED = 1 << 40
Place = tuple[str, int]


def spec_of(dag: DAG) -> dict:
    path = dag.fileloc
    folder = os.path.dirname(path) or os.getcwd()
    source = {"path": os.path.basename(path), "text": "", "sha256": "", "module": "", "modules": []}
    return dag_spec(dag, source=source, tree=None, dags_folder=folder)


class LocalRun:
    def __init__(self, dag: DAG, given: dict, secrets: LocalSecrets, pattern: re.Pattern | None) -> None:
        self._dag = dag
        self._given = given
        self._marked = pattern
        self._store = LocalStore(secrets, self._states)
        self._engine = engine()
        self._number = self._engine.new_run()
        self._spec = spec_of(dag)
        self._params = {param["name"]: param.get("default") for param in self._spec["params"]}
        self._task_params = {
            task["task_id"]: {param["name"]: param.get("default") for param in task["params"]}
            for task in self._spec["tasks"]
        }
        self._shown: dict[Place, dict] = {}
        self._names: dict[Place, str] = {}
        # How deferred tries go on, without their events.
        self._deferrals: dict[Place, dict] = {}
        self._step: dict[str, Any] = {}
        self._triggers: WaitingTriggers | None = None

    def to_end(self) -> TestedDagRun:
        old_context.look_at(["".join(linecache.getlines(self._dag.fileloc))])
        opened = self._ask(op="open", spec=self._spec, given=self._given, **self._interval())
        self._given.update(opened["interval"])
        self._follow(opened["step"])
        try:
            while self._is_going_on():
                self._go_on()
            self._call_back()
        finally:
            if self._triggers is not None:
                self._triggers.close()
            self._ask(op="close")
        return self._result()

    def _interval(self) -> dict:
        """What the author's own timetable says of the run. The engine knows all others."""
        date = self._given["logical_date"]
        if date is None or not is_custom(self._dag.timetable):
            return {}
        found = manual_run(self._dag.timetable, parse_iso(date))
        return {"interval": {"data_interval_start": found["start"], "data_interval_end": found["end"]}}

    def _is_going_on(self) -> bool:
        return self._step["state"] == "running"

    def _now(self) -> datetime.datetime:
        return datetime.datetime.now(datetime.timezone.utc)

    def _ask(self, **message) -> dict:
        return self._engine.ask({"run": self._number, **message})

    def _tell(self, place: Place, **message) -> None:
        task_id, map_index = place
        self._follow(self._ask(taskId=task_id, mapIndex=map_index, **message)["step"])

    def _follow(self, step: dict) -> None:
        self._step = step
        for task_id in step["expanded"]:
            self._shown.pop((task_id, -1), None)
        for shown in step["changed"]:
            self._shown[shown["taskId"], shown["mapIndex"]] = shown
        if self._triggers:
            self._triggers.keep_only({place for place, one in self._shown.items() if one["state"] == "deferred"})

    def _go_on(self) -> None:
        upcoming, due = self._step["next"], self._step["due"]
        if upcoming is not None:
            self._run_task(upcoming)
            return
        left = None if due is None else max(0.0, (parse_iso(due["at"]) - self._now()).total_seconds())
        if self._triggers:
            fired = self._triggers.next_event(left)
            if fired is not None:
                self._resume(*fired)
                return
        elif left is None:
            raise AirflowException(f"the run {self._given['run_id']} has nothing to do and has not ended")
        else:
            time.sleep(left)
        assert due is not None
        self._tell((due["taskId"], due["mapIndex"]), op="due")

    # -- one task

    def _run_task(self, upcoming: dict) -> None:
        place = task_id, map_index = upcoming["taskId"], upcoming["mapIndex"]
        shown = f"task_id={task_id} map_index={map_index} try_number={upcoming['tryNumber']}"
        stub = self._stub_of(upcoming)
        if stub is not None:
            _log.info("[DAG TEST] marked as success, not run: %s", shown)
            self._tell(place, op="ended", outcome=self._keep(place, stub))
            return
        _log.info("[DAG TEST] starting %s", shown)
        job = self._job_of(upcoming)
        if upcoming["firstPokeAt"] is None:
            self._store.xcoms.remove(*place)  # a new try begins without the values of the one before
        channel = self._channel(job)
        outcome = self._attempt(job, channel)
        if outcome.rendered_map_index is not None:
            self._names[place] = outcome.rendered_map_index
        self._tell(place, op="ended", outcome=self._keep(place, outcome))
        if outcome.deferral is not None:
            self._wait_for(place, job, outcome.deferral)
        _log.info("[DAG TEST] %s: %s", self._shown[place]["state"] if place in self._shown else "ended", shown)

    def _stub_of(self, upcoming: dict) -> Outcome | None:
        """The outcome of a task that does not run."""
        return Outcome() if self._marked is not None and self._marked.match(upcoming["taskId"]) else None

    def _attempt(self, job: dict, channel: LocalChannel) -> Outcome:
        with current.restored():
            return LocalAttempt(job, self._dag, channel, LocalStopping(channel)).run()

    def _keep(self, place: Place, outcome: Outcome) -> dict:
        """Keeps the values here; the engine only needs their lengths."""
        task_id, map_index = place
        for entry in outcome.xcoms:
            self._store.xcoms.put(task_id, map_index, entry)
        if outcome.state == "success":
            source = {"source_task_id": task_id, "source_map_index": map_index, "timestamp": iso(self._now())}
            source |= {"source_dag_id": self._dag.dag_id, "source_run_id": self._given["run_id"]}
            self._store.events.add(outcome.asset_events, source)
        lengths = [
            {"key": entry["key"], "length": entry["length"] if "length" in entry else item_count(entry["value"])}
            for entry in self._store.xcoms.of_instance(task_id, map_index)
        ]
        return {
            "state": outcome.state,
            "retryable": outcome.retryable,
            **({"retryDelaySeconds": outcome.retry_delay} if outcome.retry_delay is not None else {}),
            "skips": outcome.skips,
            "xcoms": lengths,
            **({"rescheduleAt": outcome.reschedule_at} if outcome.reschedule_at is not None else {}),
            **({"deferral": outcome.deferral} if outcome.deferral is not None else {}),
            **({"failure": outcome.failure} if outcome.failure is not None else {}),
        }

    # -- deferral

    def _wait_for(self, place: Place, job: dict, deferral: dict) -> None:
        self._remember(place, deferral)
        if self._triggers is None:
            self._triggers = WaitingTriggers(AgentSecrets(self._channel(job), job))
        order = {
            "dag_id": self._dag.dag_id,
            "run_id": self._given["run_id"],
            "task_id": place[0],
            "map_index": place[1],
            "try_number": job["try_number"],
            "class_path": deferral["classPath"],
            "kwargs": deferral["kwargs"],
        }
        self._triggers.add(place, order, deferral)

    def _remember(self, place: Place, deferral: dict) -> None:
        self._deferrals[place] = {"next_method": deferral["nextMethod"], "next_kwargs": deferral["nextKwargs"]}

    def _resume(self, place: Place, event: dict) -> None:
        for key, value in (event.get("xcoms") or {}).items():
            self._store.xcoms.put(*place, {"key": key, "value": value})
        text = self._deferrals[place]["event"] = json.dumps(event)
        self._tell(place, op="resumed", event=text)

    # -- what tasks and callbacks are given

    def _channel(self, job: dict) -> LocalChannel:
        return LocalChannel(job, self._store)

    def _states(self) -> list[dict]:
        return [
            {"run_id": self._given["run_id"], "task_id": task_id, "map_index": map_index, "state": shown["state"]}
            for (task_id, map_index), shown in sorted(self._shown.items())
        ]

    def _common(self) -> dict:
        return {
            "type": "job",
            "attempt_id": str(uuid.uuid4()),
            "dag_id": self._dag.dag_id,
            "python_dag_id": self._dag.dag_id,
            "run": {
                **self._given,
                "state": self._step["state"],
                "start_date": self._step["startDate"],
                "end_date": self._step["endDate"],
                "queued_at": None,
                "triggering_user_name": None,
                "partition_key": None,
                "partition_date": None,
                "note": None,
            },
            "previous": {},
            "params": {**self._params, **self._given["conf"]},
            "xcom_limits": {"inline_bytes": _UNLIMITED, "max_bytes": _UNLIMITED},
        }

    def _job_of(self, upcoming: dict) -> dict:
        task_id, map_index = upcoming["taskId"], upcoming["mapIndex"]
        resume = self._deferrals.pop((task_id, map_index), None)
        params = {**self._params, **self._task_params[task_id], **self._given["conf"]}
        return {
            **self._common(),
            **({"resume": resume} if resume is not None else {}),
            "kind": "task",
            "params": params,
            "task_id": task_id,
            "map_index": map_index,
            "try_number": upcoming["tryNumber"],
            "max_tries": upcoming["maxTries"],
            "start_date": upcoming["startDate"],
            "first_poke_at": upcoming["firstPokeAt"],
            "expanded": None if map_index < 0 else {"length": upcoming["expandedLength"]},
            "upstream_lengths": upcoming["upstreamLengths"],
            "mapped_over": upcoming["isMappedOver"],
            "retry_on_failure": upcoming["tryNumber"] <= upcoming["maxTries"] or upcoming["groupRetry"] is not None,
            "group_retry": upcoming["groupRetry"],
        }

    def _call_back(self) -> None:
        state = self._step["state"]
        _log.info("[DAG TEST] the run %s has ended: %s", self._given["run_id"], state)
        which = "on_success" if state == "success" else "on_failure"
        if getattr(self._dag, f"{which}_callback"):
            self._call(which, self._step["reason"] or ("success" if state == "success" else "task_failure"))

    def _call(self, which: str, reason: str) -> None:
        job = {**self._common(), "kind": "callback", "scope": "run", "which": which, "reason": reason, "task_id": None}
        with current.restored():
            run_callback_job(job, self._dag, self._channel(job))

    def _result(self) -> TestedDagRun:
        job = self._common()
        run = self._new_result(job)
        for place in sorted(self._shown):
            ti = self._new_instance(self._shown[place], run, job)
            ti.rendered_map_index = self._names.get(place)
            run.svc_instances.append(ti)
        return run

    def _new_result(self, job: dict) -> TestedDagRun:
        return TestedDagRun(job, self._dag)

    def _new_instance(self, shown: dict, run: TestedDagRun, job: dict) -> TestedTaskInstance:
        return TestedTaskInstance(shown, run, job, self._channel(job))
