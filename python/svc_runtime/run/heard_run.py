"""The run that listeners hear of: Airflow's `DagRun`, as far as code outside its scheduler reads one."""

from __future__ import annotations

import datetime

from ..enums import DagRunTriggeredByType
from . import current
from .instance import RunningDagRun
from .instance_key import TaskInstanceKey
from .moments import LazyMoment


class HeardTaskInstance:
    """One task of the run, as it ended."""

    start_date = LazyMoment()
    end_date = LazyMoment()
    queued_dttm = LazyMoment()

    def __init__(self, run: HeardDagRun, told: dict) -> None:
        self.svc_texts = told
        self.dag_id = run.dag_id
        self.run_id = run.run_id
        self.dag_run = run
        self.task_id = told["task_id"]
        self.map_index = told["map_index"]
        self.state = told["state"]
        self.try_number = told["try_number"]
        self.max_tries = told["max_tries"]
        self.operator = told["operator"]
        self.pool = told["pool"]
        self.queue = told["queue"]
        self.task = run.dag.task_dict.get(self.task_id)

    @property
    def duration(self) -> float | None:
        if self.start_date is None or self.end_date is None:
            return None
        return (self.end_date - self.start_date).total_seconds()

    @property
    def key(self) -> TaskInstanceKey:
        return TaskInstanceKey(self.dag_id, self.task_id, self.run_id, self.try_number, self.map_index)

    def __repr__(self) -> str:
        return f"<TaskInstance: {self.dag_id}.{self.task_id} {self.run_id} [{self.state}]>"


def _triggered_by(text: str | None):
    known = {kind.value: kind for kind in DagRunTriggeredByType}
    return known.get(text or "", text)


class HeardDagRun(RunningDagRun):
    def __init__(self, job: dict, dag, channel, *, state: str) -> None:
        super().__init__(job)
        self.dag = dag
        self.state = state
        self.triggered_by = _triggered_by(job["run"].get("triggered_by"))
        if state == "running":  # it may have ended since
            self.end_date = None
        # Asked for before anybody listens: some do so in a process that they fork, which is answered nothing.
        told = channel.request("instances_of_run")["instances"]
        self._instances = [HeardTaskInstance(self, each) for each in told]

    @property
    def duration(self) -> float | None:
        if self.start_date is None:
            return None
        end = self.end_date or datetime.datetime.now(datetime.timezone.utc)
        return (end - self.start_date).total_seconds()

    def get_dag(self):
        return self.dag

    def get_state(self) -> str:
        return self.state

    def get_task_instances(self, state=None, session=None) -> list[HeardTaskInstance]:
        wanted = [state] if isinstance(state, str) else state
        return [instance for instance in self._instances if wanted is None or instance.state in wanted]

    def get_task_instance(self, task_id: str, session=None, *, map_index: int = -1) -> HeardTaskInstance | None:
        for instance in self.get_task_instances():
            if (instance.task_id, instance.map_index) == (task_id, map_index):
                return instance
        return None


def hear(job: dict, dag, channel, *, state: str) -> HeardDagRun:
    run = current.heard_run = HeardDagRun(job, dag, channel, state=state)
    return run
