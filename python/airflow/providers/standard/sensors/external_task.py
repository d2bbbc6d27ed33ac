"""ExternalTaskSensor and ExternalTaskMarker: dependencies between DAGs."""

from __future__ import annotations

import datetime
from collections.abc import Collection

from svc_runtime.enums import DagRunState, TaskInstanceState
from svc_runtime.exceptions import (
    AirflowException,
    AirflowSkipException,
    ExternalDagFailedError,
    ExternalTaskFailedError,
)
from svc_runtime.record.operator import BaseOperatorLink
from svc_runtime.record.sensor import BaseSensorOperator

from ..operators.empty import EmptyOperator
from ..triggers.external_task import WorkflowTrigger


def _check_ids(task_ids) -> None:
    if len(task_ids) > len({str(task_id) for task_id in task_ids}):
        raise ValueError("Duplicate task_ids passed in external_task_ids parameter")


class ExternalDagLink(BaseOperatorLink):
    name = "External DAG"


class ExternalTaskSensor(BaseSensorOperator):
    template_fields = ("external_dag_id", "external_task_id", "external_task_ids", "external_task_group_id")
    ui_color = "#4db7db"
    operator_extra_links = (ExternalDagLink(),)

    def __init__(
        self,
        *,
        external_dag_id: str,
        external_task_id: str | None = None,
        external_task_ids: Collection[str] | None = None,
        external_task_group_id: str | None = None,
        allowed_states=None,
        skipped_states=None,
        failed_states=None,
        execution_delta: datetime.timedelta | None = None,
        execution_date_fn=None,
        check_existence: bool = False,
        poll_interval: float = 2.0,
        deferrable: bool = False,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.allowed_states = list(allowed_states) if allowed_states else [TaskInstanceState.SUCCESS.value]
        self.skipped_states = list(skipped_states) if skipped_states else []
        self.failed_states = list(failed_states) if failed_states else []
        self._check_states(external_task_id, external_task_ids, external_task_group_id)
        if execution_delta is not None and execution_date_fn is not None:
            raise ValueError(
                "Only one of `execution_delta` or `execution_date_fn` may be provided to ExternalTaskSensor; not both."
            )
        # Airflow changes the one-id form into a list, so that rendering and checking know one shape.
        self.external_task_ids = [external_task_id] if external_task_id is not None else external_task_ids
        self.external_dag_id = external_dag_id
        self.external_task_id = external_task_id
        self.external_task_group_id = external_task_group_id
        self.execution_delta = execution_delta
        self.execution_date_fn = execution_date_fn
        self.check_existence = check_existence
        self.poll_interval = poll_interval
        self.deferrable = deferrable

    def _check_states(self, task_id, task_ids, group_id) -> None:
        everything = [str(s) for s in self.allowed_states + self.skipped_states + self.failed_states]
        if len(set(everything)) != len(everything):
            raise AirflowException("Duplicate values provided across allowed_states, skipped_states and failed_states.")
        if task_id is not None and task_ids is not None:
            raise ValueError(
                "Only one of `external_task_id` or `external_task_ids` may be provided to ExternalTaskSensor"
            )
        if group_id is not None and (task_id is not None or task_ids is not None):
            raise ValueError(
                "Only one of `external_task_group_id` or `external_task_id(s)` may be provided to ExternalTaskSensor"
            )
        # A template and a task's value are known when the task runs.
        if isinstance(task_ids, (list, tuple)):
            _check_ids(task_ids)
        about_tasks = task_id is not None or task_ids is not None or group_id is not None
        known = {s.value for s in (TaskInstanceState if about_tasks else DagRunState)}
        unknown = set(everything) - known
        if unknown:
            raise ValueError(
                f"Valid values for `allowed_states`, `skipped_states` and `failed_states` are {sorted(known)}; "
                f"unknown: {sorted(unknown)}"
            )

    def target_dates(self, context) -> list:
        logical_date = context["logical_date"]
        if self.execution_delta is not None:
            return [logical_date - self.execution_delta]
        if self.execution_date_fn is not None:
            from svc_runtime.run.callables import call_with_context

            result = call_with_context(self.execution_date_fn, (logical_date,), {}, context)
            return list(result) if isinstance(result, (list, tuple)) else [result]
        return [logical_date]

    def _ids(self) -> list | None:
        """As rendered."""
        ids = self.external_task_ids
        if isinstance(ids, str):
            raise ValueError(
                f"external_task_ids must be a list of task ids and is the text {ids!r}. A template gives text: pass a list of "
                "templates, or set render_template_as_native_obj=True"
            )
        if ids is None:
            return None
        _check_ids(ids)
        return list(ids)

    def execute(self, context):
        if not self.deferrable:
            return super().execute(context)
        if self.poke(context):
            return None
        trigger = WorkflowTrigger(
            external_dag_id=self.external_dag_id,
            external_task_group_id=self.external_task_group_id,
            external_task_ids=self._ids(),
            logical_dates=self.target_dates(context),
            allowed_states=[str(s) for s in self.allowed_states],
            skipped_states=[str(s) for s in self.skipped_states],
            failed_states=[str(s) for s in self.failed_states],
            poke_interval=self.poll_interval,
            soft_fail=self.soft_fail,
        )
        return self.defer(
            timeout=getattr(self, "execution_timeout", None), trigger=trigger, method_name="execute_complete"
        )

    def execute_complete(self, context, event=None) -> None:
        status = (event or {}).get("status")
        if status == "success":
            self.log.info("External tasks %s has executed successfully.", self.external_task_ids)
        elif status == "skipped":
            raise AirflowSkipException("External job has skipped skipping.")
        elif status == "failed":
            if self.soft_fail:
                raise AirflowSkipException("External job has failed skipping.")
            raise ExternalTaskFailedError("External job has failed.")
        else:
            raise AirflowException(
                "Error occurred while trying to retrieve task status. Please, check the name of executed task and Dag."
            )

    def poke(self, context):
        counts = context["ti"].svc_external_states(
            dag_id=self.external_dag_id,
            task_ids=self._ids(),
            task_group_id=self.external_task_group_id,
            logical_dates=self.target_dates(context),
            allowed=[str(s) for s in self.allowed_states],
            skipped=[str(s) for s in self.skipped_states],
            failed=[str(s) for s in self.failed_states],
            check_existence=self.check_existence,
        )
        if counts["failed"]:
            if self.soft_fail:
                raise AirflowSkipException(f"The external DAG {self.external_dag_id} failed; soft_fail is set")
            if self.external_task_ids or self.external_task_group_id:
                raise ExternalTaskFailedError(f"Some of the external tasks in DAG {self.external_dag_id} failed.")
            raise ExternalDagFailedError(f"The external DAG {self.external_dag_id} failed.")
        if counts["skipped"]:
            raise AirflowSkipException(f"The external DAG {self.external_dag_id} reached a state in skipped_states")
        return counts["allowed"] >= counts["expected"]


class ExternalTaskMarker(EmptyOperator):
    template_fields = ("external_dag_id", "external_task_id", "logical_date")
    ui_color = "#4db7db"
    operator_extra_links = (ExternalDagLink(),)
    # Finished by the scheduler, but its templates matter when clearing recursively.
    _is_empty = True

    def __init__(
        self,
        *,
        external_dag_id: str,
        external_task_id: str,
        logical_date="{{ logical_date.isoformat() }}",
        recursion_depth: int = 10,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.external_dag_id = external_dag_id
        self.external_task_id = external_task_id
        if isinstance(logical_date, datetime.datetime):
            logical_date = logical_date.isoformat()
        elif not isinstance(logical_date, str):
            raise TypeError(f"Expected str or datetime.datetime type for logical_date. Got {type(logical_date)}")
        self.logical_date = logical_date
        if recursion_depth <= 0:
            raise ValueError("recursion_depth should be a positive integer")
        self.recursion_depth = recursion_depth
