"""TriggerDagRunOperator: start a run of another DAG. The request goes to the control plane through the runner."""

from __future__ import annotations

import datetime
import json

from svc_runtime.enums import DagRunState
from svc_runtime.exceptions import AirflowException, DagRunTriggerException
from svc_runtime.record.notset import NOTSET, is_arg_set
from svc_runtime.record.operator import BaseOperator, BaseOperatorLink
from svc_runtime.record.timezones import parse_iso


class DagIsPaused(AirflowException):
    def __init__(self, dag_id: str) -> None:
        super().__init__(f"Dag {dag_id} is paused")
        self.dag_id = dag_id


class TriggerDagRunLink(BaseOperatorLink):
    name = "Triggered DAG"


class TriggerDagRunOperator(BaseOperator):
    template_fields = (
        "trigger_dag_id",
        "trigger_run_id",
        "logical_date",
        "conf",
        "wait_for_completion",
        "skip_when_already_exists",
    )
    template_fields_renderers = {"conf": "py"}
    ui_color = "#ffefeb"
    operator_extra_links = (TriggerDagRunLink(),)

    def __init__(
        self,
        *,
        trigger_dag_id: str,
        trigger_run_id: str | None = None,
        conf: dict | None = None,
        logical_date=NOTSET,
        run_after=NOTSET,
        reset_dag_run: bool = False,
        wait_for_completion: bool = False,
        poke_interval: int = 60,
        allowed_states: list | None = None,
        failed_states: list | None = None,
        skip_when_already_exists: bool = False,
        fail_when_dag_is_paused: bool = False,
        note: str | None = None,
        deferrable: bool = False,
        openlineage_inject_parent_info: bool = True,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.trigger_dag_id = trigger_dag_id
        self.trigger_run_id = trigger_run_id
        self.conf = conf
        self.reset_dag_run = reset_dag_run
        self.wait_for_completion = wait_for_completion
        self.poke_interval = poke_interval
        self.allowed_states = [DagRunState(str(s)) for s in allowed_states] if allowed_states else [DagRunState.SUCCESS]
        self.failed_states = (
            [DagRunState(str(s)) for s in failed_states] if failed_states is not None else [DagRunState.FAILED]
        )
        self.skip_when_already_exists = skip_when_already_exists
        self.fail_when_dag_is_paused = fail_when_dag_is_paused
        self.note = note
        self.deferrable = deferrable
        self.openlineage_inject_parent_info = openlineage_inject_parent_info
        self.logical_date = _check_date("logical_date", logical_date)
        self.run_after = _check_date("run_after", run_after)

    def execute(self, context):
        try:
            json.dumps(self.conf, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"conf parameter should be JSON Serializable: {error}") from None
        raise DagRunTriggerException(
            trigger_dag_id=self.trigger_dag_id,
            dag_run_id=self.trigger_run_id,
            conf=self.conf,
            logical_date=_as_date(self.logical_date),
            run_after=_as_date(self.run_after),
            reset_dag_run=self.reset_dag_run,
            skip_when_already_exists=self.skip_when_already_exists,
            fail_when_dag_is_paused=self.fail_when_dag_is_paused,
            wait_for_completion=self.wait_for_completion,
            allowed_states=self.allowed_states,
            failed_states=self.failed_states,
            poke_interval=self.poke_interval,
            deferrable=self.deferrable,
            note=self.note,
        )

    def execute_complete(self, context, event=None) -> None:
        found = event[1] if event else {}
        run_ids = found.get("run_ids") or []
        allowed, failed = ({str(state) for state in states} for states in (self.allowed_states, self.failed_states))
        for run_id in run_ids:
            state = found.get(run_id)
            if state in failed:
                raise AirflowException(f"{self.trigger_dag_id}, run {run_id}, is {state}")
            if state not in allowed:
                raise AirflowException(f"{self.trigger_dag_id}, run {run_id}, is {state}, which is no allowed state")


def _check_date(name: str, value):
    if value is None or not is_arg_set(value) or isinstance(value, (str, datetime.datetime)):
        return value
    raise TypeError(f"Expected str, datetime.datetime, or None for parameter '{name}'. Got {type(value).__name__}")


def _as_date(value):
    """NOTSET means now, an explicit None means a run without logical date."""
    if not is_arg_set(value):
        return datetime.datetime.now(datetime.timezone.utc)
    return parse_iso(value) if isinstance(value, str) else value
