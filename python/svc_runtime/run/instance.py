"""`ti` and `dag_run`: the task instance and the run, as bodies, templates and callbacks know them."""

from __future__ import annotations

import datetime
import logging
import os
from types import SimpleNamespace

from ..enums import DagRunType, TaskInstanceState
from ..exceptions import XComNotFound
from ..record.notset import NOTSET
from .instance_key import TaskInstanceKey
from .moments import LazyMoment, iso, moment
from .xcoms import RETURN_KEY, XComs, pull

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .mapping import Expansion

_SKIP_KEY = "skipmixin_key"
_RUNNING = TaskInstanceState.RUNNING
_HOSTNAME = os.uname().nodename
_RUN_TYPES = {member.value: member for member in DagRunType}


class RunningDagRun:
    logical_date = LazyMoment()
    data_interval_start = LazyMoment()
    data_interval_end = LazyMoment()
    run_after = LazyMoment()
    start_date = LazyMoment()
    queued_at = LazyMoment()
    end_date = LazyMoment()
    partition_date = LazyMoment()

    def __init__(self, job: dict, channel=None) -> None:
        self._channel = channel
        self.svc_texts = run = job["run"]
        self.dag_id = job["dag_id"]
        self.run_id = run["run_id"]
        kind = run.get("run_type") or "manual"
        self.run_type = _RUN_TYPES.get(kind, kind)
        self.state = run.get("state") or "running"
        self.conf = run.get("conf") or {}
        self.triggering_user_name = run.get("triggering_user_name")
        self.partition_key = run.get("partition_key")
        self.note = run.get("note")
        self.clear_number = run.get("clear_number") or 0

    @property
    def consumed_asset_events(self) -> list:
        """The events that made this run start."""
        if self._channel is None:
            return []
        from .asset_events import TriggeringEvents

        return [event for events in TriggeringEvents(self._channel).values() for event in events]

    @property
    def execution_date(self):
        """The name of Airflow 2."""
        return self.logical_date

    @property
    def external_trigger(self) -> bool:
        return self.run_type == DagRunType.MANUAL

    @property
    def is_backfill(self) -> bool:
        return self.run_type == DagRunType.BACKFILL_JOB

    def __repr__(self) -> str:
        return f"<DagRun {self.dag_id} @ {self.logical_date}: {self.run_id}, {self.run_type}>"


class PreviousTaskInstance:
    """What `get_previous_ti` returns."""

    logical_date = LazyMoment()
    start_date = LazyMoment()
    end_date = LazyMoment()

    def __init__(self, found: dict) -> None:
        self.svc_texts = found
        self.dag_id: str = found["dag_id"]
        self.task_id: str = found["task_id"]
        self.run_id: str = found["run_id"]
        self.map_index: int = found["map_index"]
        self.state: str | None = found["state"]
        self.try_number: int = found["try_number"]
        self.duration: float | None = found["duration"]

    def __repr__(self) -> str:
        return f"<TaskInstance: {self.dag_id}.{self.task_id} {self.run_id} [{self.state}]>"


def _word(state) -> str | None:
    return None if state is None else str(getattr(state, "value", state))


class RunningTaskInstance:
    start_date = LazyMoment()
    # Which items and instances belong to this one; made with the context (see mapping.py).
    svc_expand: Expansion

    def __init__(self, job: dict, dag, channel) -> None:
        self.id = job.get("ti_id") or job.get("attempt_id")
        self.dag_id = job["dag_id"]
        self.task_id = job["task_id"]
        self.map_index = job.get("map_index", -1)
        self.run_id = job["run"]["run_id"]
        self.try_number = job.get("try_number") or 1
        self.max_tries = job.get("max_tries") or 0
        self.hostname = _HOSTNAME
        self.pid = os.getpid()
        self.svc_texts = job
        if not job.get("start_date"):
            self.start_date = datetime.datetime.now(datetime.timezone.utc)
        self.end_date = None
        self.state = _RUNNING
        self.dag_run = RunningDagRun(job, channel)
        self.task = dag.get_task(self.task_id)
        self.is_mapped = self.map_index >= 0
        self.rendered_map_index: str | None = None
        self._dag = dag
        self._job = job
        self._channel = channel
        self.svc_context: dict | None = None
        # Values that travel with the result.
        self.svc_left: list = []
        # Tasks that a body has chosen to skip and then gone on.
        self.svc_skips: list = []
        self.xcoms = XComs(job, channel, (job["dag_id"], job.get("python_dag_id") or job["dag_id"]))

    # -- what bodies call

    def xcom_push(self, key: str, value) -> None:
        if key == _SKIP_KEY:
            # Written by every branch and read by nobody meanwhile: not worth a round trip.
            self.svc_left.append({"key": key, "value": value})
        else:
            self.xcoms.push(key, value)

    def xcom_pull(
        self,
        task_ids=None,
        dag_id: str | None = None,
        key: str = RETURN_KEY,
        include_prior_dates: bool = False,
        *,
        map_indexes=NOTSET,
        default=None,
        run_id: str | None = None,
    ):
        place = {"dag_id": dag_id, "run_id": run_id, "prior": include_prior_dates}
        return pull(
            self.xcoms,
            self.task_id if task_ids is None else task_ids,
            key,
            map_indexes=map_indexes,
            default=default,
            **place,
        )

    def get_template_context(self) -> dict | None:
        return self.svc_context

    def get_dag(self, dag_id: str | None = None):
        """Facts of the DAG with this id, as on Airflow 3. Without an id, it returns the task's own DAG, as on Airflow 2."""
        if dag_id is None:
            return self._dag
        return SimpleNamespace(**self._channel.request("get_dag", dag_id=dag_id))

    def get_dagrun(self) -> RunningDagRun:
        return self.dag_run

    @property
    def log(self) -> logging.Logger:
        return logging.getLogger("airflow.task")

    @property
    def execution_date(self):
        return self.dag_run.logical_date

    @property
    def logical_date(self):
        return self.dag_run.logical_date

    @property
    def key(self) -> TaskInstanceKey:
        return TaskInstanceKey(self.dag_id, self.task_id, self.run_id, self.try_number, self.map_index)

    @property
    def operator(self) -> str:
        return self.task.task_type

    @property
    def duration(self) -> float:
        return (datetime.datetime.now(datetime.timezone.utc) - self.start_date).total_seconds()

    @property
    def log_url(self) -> str:
        from urllib.parse import quote

        base = (self._job.get("base_url") or "http://localhost:8080").rstrip("/")
        mapped = f"/mapped/{self.map_index}" if self.is_mapped else ""
        path = f"/dags/{quote(self.dag_id)}/runs/{quote(self.run_id, safe='')}/tasks/{quote(self.task_id)}{mapped}"
        return f"{base}{path}?try_number={self.try_number}"

    mark_success_url = log_url

    def get_first_reschedule_date(self, context=None):
        return self.svc_first_poke_at

    def get_previous_dagrun(self, state=None) -> RunningDagRun | None:
        """The run with the latest logical date before this one's, in this state if one is given."""
        run = self._channel.request("previous_run", state=_word(state))
        return None if run is None else RunningDagRun({"dag_id": self.dag_id, "run": run})

    def get_previous_ti(self, state=None, logical_date=None, map_index: int = -1) -> PreviousTaskInstance | None:
        """This task in an earlier run: the latest before the date, or before this run's own. A task that is not mapped has the
        map index -1."""
        found = self._channel.request(
            "previous_instance", state=_word(state), before=iso(logical_date), map_index=map_index
        )
        return None if found is None else PreviousTaskInstance(found)

    @property
    def previous_start_date_success(self):
        return moment((self._job.get("previous") or {}).get("start_date_success"))

    # -- questions about other runs and tasks

    def get_dagrun_state(self, dag_id: str, run_id: str) -> str | None:
        value = self._channel.request("get_dag_run_state", dag_id=dag_id, run_id=run_id)
        return value.get("state") if isinstance(value, dict) else value

    def get_task_states(
        self, dag_id: str, map_index=None, task_ids=None, task_group_id=None, logical_dates=None, run_ids=None
    ):
        """{run_id: {task_id: state}}; an instance of a mapped task is written task_id_<map index>. All tasks, if none is named."""
        found: dict = {}
        for row in self._instances(dag_id, map_index, task_ids, task_group_id, logical_dates, run_ids):
            name = row["task_id"] if row["map_index"] < 0 else f"{row['task_id']}_{row['map_index']}"
            found.setdefault(row["run_id"], {})[name] = row["state"]
        return found

    def get_ti_count(
        self,
        dag_id: str,
        map_index=None,
        task_ids=None,
        task_group_id=None,
        logical_dates=None,
        run_ids=None,
        states=None,
    ) -> int:
        rows = self._instances(dag_id, map_index, task_ids, task_group_id, logical_dates, run_ids)
        return sum(1 for row in rows if states is None or row["state"] in {str(state) for state in states})

    def get_dr_count(self, dag_id: str, logical_dates=None, run_ids=None, states=None) -> int:
        rows = self._external(dag_id, None, None, logical_dates, run_ids)["states"]
        return sum(1 for row in rows if states is None or row["state"] in {str(state) for state in states})

    def _instances(self, dag_id, map_index, task_ids, task_group_id, logical_dates, run_ids) -> list[dict]:
        """As on Airflow, a map index below 0 means every instance."""
        rows = self._external(dag_id, task_ids or [], task_group_id, logical_dates, run_ids)["states"]
        return rows if map_index is None or map_index < 0 else [row for row in rows if row["map_index"] == map_index]

    def _external(self, dag_id, task_ids, task_group_id, logical_dates=None, run_ids=None) -> dict:
        return self._channel.request(
            "external_states",
            dag_id=dag_id,
            task_ids=None if task_ids is None else list(task_ids),
            task_group_id=task_group_id,
            logical_dates=None if logical_dates is None else [iso(date) for date in logical_dates],
            run_ids=None if run_ids is None else list(run_ids),
        )

    # -- what our operators and references ask (svc_runtime/record, airflow/providers/standard)

    def svc_resolve_xcom(self, operator, key: str):
        index = self.svc_expand.instances_of(operator)
        if not isinstance(index, int):
            # A task that is mapped itself gives a list, if of nothing; one that its group repeats is as on Airflow.
            return self.xcoms.all(operator.task_id, key, within=index, is_none_when_empty=not operator.is_mapped)
        value = self.xcoms.one(operator.task_id, key, index)
        if value is not NOTSET:
            return value
        if key == RETURN_KEY or getattr(operator, "multiple_outputs", False):
            return None
        raise XComNotFound(f'XComArg result from {operator.task_id} at {self.dag_id} with key="{key}" is not found!')

    @property
    def svc_first_poke_at(self):
        return moment(self._job.get("first_poke_at"))

    def svc_next_run_after(self):
        return moment(self._channel.request("next_run_after"))

    def svc_external_states(self, *, dag_id, task_ids, task_group_id, logical_dates, **wanted) -> dict:
        from .external import count_states

        answer = self._external(dag_id, task_ids, task_group_id, logical_dates)
        return count_states(
            answer, dag_id=dag_id, task_ids=task_ids, task_group_id=task_group_id, logical_dates=logical_dates, **wanted
        )

    def __repr__(self) -> str:
        mapped = f" map_index={self.map_index}" if self.is_mapped else ""
        return f"<TaskInstance: {self.dag_id}.{self.task_id} {self.run_id}{mapped} [{self.state}]>"
