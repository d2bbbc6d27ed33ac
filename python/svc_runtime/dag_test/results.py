"""What `dag.test()` returns: the run and its task instances, with the names of Airflow's DagRun and TaskInstance."""

from __future__ import annotations

import logging

from ..enums import DagRunState, TaskInstanceState
from ..record.notset import NOTSET
from ..run.instance import RunningDagRun
from ..run.instance_key import TaskInstanceKey
from ..run.moments import LazyMoment
from ..run.xcoms import RETURN_KEY, XComs, pull

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..record.dag import DAG


def _duration(start, end) -> float | None:
    return None if start is None or end is None else (end - start).total_seconds()


class TestedTaskInstance:
    __test__ = False  # for pytest
    start_date = LazyMoment()
    end_date = LazyMoment()

    def __init__(self, shown: dict, run: TestedDagRun, job: dict, channel) -> None:
        self.svc_texts = {"start_date": shown["startDate"], "end_date": shown["endDate"]}
        self.task_id: str = shown["taskId"]
        self.map_index: int = shown["mapIndex"]
        self.dag_run = run
        self.dag_id = run.dag_id
        self.run_id = run.run_id
        self.state = TaskInstanceState(shown["state"]) if shown["state"] is not None else None
        self.try_number: int = shown["tryNumber"]
        self.max_tries: int = shown["maxTries"]
        # Why it failed, in words; None where it has not.
        self.failure: str | None = shown["failure"]
        self.rendered_map_index: str | None = None
        self.task = run.dag.get_task(self.task_id)
        self._xcoms = XComs(job, channel, (run.dag_id,))

    @property
    def key(self) -> TaskInstanceKey:
        return TaskInstanceKey(self.dag_id, self.task_id, self.run_id, self.try_number, self.map_index)

    @property
    def operator(self) -> str:
        return self.task.task_type

    @property
    def duration(self) -> float | None:
        return _duration(self.start_date, self.end_date)

    @property
    def logical_date(self):
        return self.dag_run.logical_date

    @property
    def log(self) -> logging.Logger:
        return logging.getLogger("airflow.task")

    def current_state(self):
        return self.state

    def get_dagrun(self) -> TestedDagRun:
        return self.dag_run

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
        if task_ids is None:
            task_ids = self.task_id
            map_indexes = self.map_index if map_indexes is NOTSET else map_indexes
        place = {"dag_id": dag_id, "run_id": run_id, "prior": include_prior_dates}
        return pull(self._xcoms, task_ids, key, map_indexes=map_indexes, default=default, **place)

    def __repr__(self) -> str:
        mapped = f" map_index={self.map_index}" if self.map_index >= 0 else ""
        return f"<TaskInstance: {self.dag_id}.{self.task_id} {self.run_id}{mapped} [{self.state}]>"


class TestedDagRun(RunningDagRun):
    __test__ = False  # for pytest

    def __init__(self, job: dict, dag: DAG) -> None:
        super().__init__(job)
        self.dag = dag
        self.state = DagRunState(job["run"]["state"])
        self.svc_instances: list[TestedTaskInstance] = []

    @property
    def task_instances(self) -> list[TestedTaskInstance]:
        return list(self.svc_instances)

    @property
    def duration(self) -> float | None:
        return _duration(self.start_date, self.end_date)

    def get_state(self):
        return self.state

    def get_dag(self) -> DAG:
        return self.dag

    def get_task_instances(self, state: Iterable | str | None = None, **_) -> list[TestedTaskInstance]:
        if state is None:
            return self.task_instances
        wanted = [state] if isinstance(state, str) else list(state)
        return [ti for ti in self.svc_instances if ti.state in wanted]

    def get_task_instance(self, task_id: str, *, map_index: int = -1, **_) -> TestedTaskInstance | None:
        found = (ti for ti in self.svc_instances if (ti.task_id, ti.map_index) == (task_id, map_index))
        return next(found, None)

    def __repr__(self) -> str:
        return f"<DagRun {self.dag_id} @ {self.logical_date}: {self.run_id}, state:{self.state}>"
