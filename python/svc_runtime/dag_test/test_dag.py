"""`dag.test()`: one run of a DAG in this process. The engine decides what runs; the bodies run here, one at a time.

begin ─▶ next task? ─▶ run it, tell its end ─▶ next task? …
             └─ none ─▶ a trigger fires, a rescheduled sensor is due ─▶ next task?
             └─ the run has ended ─▶ callbacks of the DAG ─▶ the run
"""

from __future__ import annotations

import datetime
import linecache
import logging
import os
import re
import time
import uuid

from ..ask_timetable import is_custom, manual_run
from ..compile.dag_spec import dag_spec
from ..enums import DagRunType
from ..exceptions import AirflowException
from ..record.notset import NOTSET
from ..record.timezones import parse_iso, to_utc
from ..run import current, old_context
from ..run.attempt import run_callback_job
from ..run.moments import iso
from ..run.outcome import Outcome
from ..run.secrets_source import AgentSecrets
from ..run.xcom_transfer import item_count
from .engine import engine
from .local_attempt import LocalAttempt, LocalStopping
from .local_channel import LocalChannel, LocalSecrets, LocalStore
from .output import printed_logs
from .results import TestedDagRun, TestedTaskInstance
from .secret_files import read_connections, read_variables
from .waiting_triggers import WaitingTriggers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..record.dag import DAG

_log = logging.getLogger("airflow.dag_test")
_UNLIMITED = 1 << 40


def test_dag(
    dag: DAG,
    *,
    run_after,
    logical_date,
    run_conf: dict | None,
    conn_file_path: str | None,
    variable_file_path: str | None,
    use_executor: bool,
    mark_success_pattern,
) -> TestedDagRun:
    if use_executor:
        raise AirflowException(
            "dag.test(use_executor=True) is not supported: tasks run in this process, so that breakpoints work. Leave the "
            "argument out, or trigger the DAG in `svc lite` to run it with an executor"
        )
    pattern = None if mark_success_pattern is None else re.compile(mark_success_pattern)
    secrets = LocalSecrets(read_variables(variable_file_path), read_connections(conn_file_path))
    run = _Run(dag, _given(dag, run_after=run_after, logical_date=logical_date, conf=run_conf), secrets, pattern)
    with printed_logs():
        return run.to_end()


test_dag.__test__ = False  # type: ignore[attr-defined]  # for pytest


def _given(dag: DAG, *, run_after, logical_date, conf: dict | None) -> dict:
    now = datetime.datetime.now(datetime.timezone.utc)
    after = now if run_after is None else to_utc(run_after)
    date = now if logical_date is NOTSET else None if logical_date is None else to_utc(logical_date)
    return {
        "run_id": f"{DagRunType.MANUAL.value}__{after.isoformat()}",
        "run_type": DagRunType.MANUAL.value,
        "logical_date": iso(date),
        "run_after": iso(after),
        "conf": conf or {},
    }


def _spec(dag: DAG) -> dict:
    path = dag.fileloc
    folder = os.path.dirname(path) or os.getcwd()
    source = {"path": os.path.basename(path), "text": "", "sha256": "", "module": "", "modules": []}
    return dag_spec(dag, source=source, tree=None, dags_folder=folder)


class _Run:
    def __init__(self, dag: DAG, given: dict, secrets: LocalSecrets, pattern: re.Pattern | None) -> None:
        self._dag = dag
        self._given = given
        self._marked = pattern
        self._store = LocalStore(secrets, self._states)
        self._engine = engine()
        self._number = self._engine.new_run()
        self._spec = _spec(dag)
        self._params = {param["name"]: param.get("default") for param in self._spec["params"]}
        self._task_params = {
            task["task_id"]: {param["name"]: param.get("default") for param in task["params"]}
            for task in self._spec["tasks"]
        }
        self._shown: dict[tuple[str, int], dict] = {}
        self._names: dict[tuple[str, int], str] = {}
        # How deferred tries go on, without their events.
        self._deferrals: dict[tuple[str, int], dict] = {}
        self._step: dict[str, Any] = {}
        self._triggers: WaitingTriggers | None = None

    def to_end(self) -> TestedDagRun:
        old_context.look_at(["".join(linecache.getlines(self._dag.fileloc))])
        opened = self._engine.ask(
            {"run": self._number, "op": "open", "spec": self._spec, "given": self._given, **self._interval()}
        )
        self._given.update(opened["interval"])
        self._follow(opened["step"])
        try:
            while self._step["state"] == "running":
                self._go_on()
            self._call_back()
        finally:
            if self._triggers is not None:
                self._triggers.close()
            self._engine.ask({"run": self._number, "op": "close"})
        return self._result()

    def _interval(self) -> dict:
        """What the author's own timetable says of the run. The engine knows all others."""
        date = self._given["logical_date"]
        if date is None or not is_custom(self._dag.timetable):
            return {}
        found = manual_run(self._dag.timetable, parse_iso(date))
        return {"interval": {"data_interval_start": found["start"], "data_interval_end": found["end"]}}

    def _tell(self, place: tuple[str, int], **message) -> None:
        task_id, map_index = place
        answer = self._engine.ask({"run": self._number, "taskId": task_id, "mapIndex": map_index, **message})
        self._follow(answer["step"])

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
        left = None if due is None else max(0.0, (parse_iso(due["at"]) - _now()).total_seconds())
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
        if self._marked is not None and self._marked.match(task_id):
            _log.info("[DAG TEST] marked as success, not run: %s", shown)
            self._tell(place, op="ended", outcome={"state": "success"})
            return
        _log.info("[DAG TEST] starting %s", shown)
        job = self._job_of(upcoming)
        if upcoming["firstPokeAt"] is None:
            self._store.xcoms.remove(*place)  # a new try begins without the values of the one before
        channel = self._channel(job)
        with current.restored():
            outcome = LocalAttempt(job, self._dag, channel, LocalStopping(channel)).run()
        if outcome.rendered_map_index is not None:
            self._names[place] = outcome.rendered_map_index
        self._tell(place, op="ended", outcome=self._keep(place, outcome))
        if outcome.deferral is not None:
            self._wait_for(place, job, outcome.deferral)
        _log.info("[DAG TEST] %s: %s", self._shown[place]["state"] if place in self._shown else "ended", shown)

    def _keep(self, place: tuple[str, int], outcome: Outcome) -> dict:
        """Keeps the values here; the engine only needs their lengths."""
        task_id, map_index = place
        for entry in outcome.xcoms:
            self._store.xcoms.put(task_id, map_index, entry)
        if outcome.state == "success":
            source = {"source_task_id": task_id, "source_map_index": map_index, "timestamp": iso(_now())}
            source |= {"source_dag_id": self._dag.dag_id, "source_run_id": self._given["run_id"]}
            self._store.events.add(outcome.asset_events, source)
        lengths = [
            {"key": entry["key"], "length": entry["length"] if "length" in entry else item_count(entry["value"])}
            for entry in self._store.xcoms.of_instance(task_id, map_index)
        ]
        return {
            "state": outcome.state,
            "retryable": outcome.retryable,
            "skips": outcome.skips,
            "xcoms": lengths,
            **({"rescheduleAt": outcome.reschedule_at} if outcome.reschedule_at is not None else {}),
            **({"deferral": outcome.deferral} if outcome.deferral is not None else {}),
            **({"failure": outcome.failure} if outcome.failure is not None else {}),
        }

    # -- deferral

    def _wait_for(self, place: tuple[str, int], job: dict, deferral: dict) -> None:
        self._deferrals[place] = {"next_method": deferral["nextMethod"], "next_kwargs": deferral["nextKwargs"]}
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

    def _resume(self, place: tuple[str, int], event: dict) -> None:
        for key, value in (event.get("xcoms") or {}).items():
            self._store.xcoms.put(*place, {"key": key, "value": value})
        text = self._deferrals[place]["event"] = _json(event)
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
            "retry_on_failure": upcoming["tryNumber"] <= upcoming["maxTries"],
        }

    def _call_back(self) -> None:
        state = self._step["state"]
        _log.info("[DAG TEST] the run %s has ended: %s", self._given["run_id"], state)
        which = "on_success" if state == "success" else "on_failure"
        if not getattr(self._dag, f"{which}_callback"):
            return
        reason = self._step["reason"] or ("success" if state == "success" else "task_failure")
        job = {**self._common(), "kind": "callback", "scope": "run", "which": which, "reason": reason, "task_id": None}
        with current.restored():
            run_callback_job(job, self._dag, self._channel(job))

    def _result(self) -> TestedDagRun:
        job = self._common()
        run = TestedDagRun(job, self._dag)
        for place in sorted(self._shown):
            ti = TestedTaskInstance(self._shown[place], run, job, self._channel(job))
            ti.rendered_map_index = self._names.get(place)
            run.svc_instances.append(ti)
        return run


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc)


def _json(value) -> str:
    import json

    return json.dumps(value)
