"""What TriggerDagRunOperator asks for: a run of another DAG, and waiting for it if wanted.

trigger_dag_run{dag_id, run_id, conf, logical_date, run_after, reset_dag_run, fail_when_dag_is_paused, note} answers
`{"run_id"}`, or the error code `conflict` when the run exists already; get_dag_run_state{dag_id, run_id} answers
`{"state"}` or the state alone.
"""

from __future__ import annotations

import logging
import time

from ..exceptions import AirflowException, AirflowSkipException, TaskDeferred
from .channel import RequestFailed
from .helpers import import_string
from .moments import iso

_log = logging.getLogger("task")
_RUN_KEY = "trigger_run_id"


def trigger(request, ti, channel) -> None:
    try:
        answer = channel.request(
            "trigger_dag_run",
            dag_id=request.trigger_dag_id,
            run_id=request.dag_run_id,
            conf=request.conf,
            logical_date=iso(request.logical_date),
            run_after=iso(request.run_after),
            reset_dag_run=request.reset_dag_run,
            fail_when_dag_is_paused=request.fail_when_dag_is_paused,
            note=request.note,
        )
    except RequestFailed as failure:
        if failure.code == "conflict" and request.skip_when_already_exists:
            raise AirflowSkipException(f"the run of {request.trigger_dag_id} exists already: {failure}") from None
        raise AirflowException(f"cannot trigger {request.trigger_dag_id}: {failure}") from None
    run_id = answer["run_id"]
    _log.info("Triggered %s, run %s", request.trigger_dag_id, run_id)
    ti.xcom_push(_RUN_KEY, run_id)
    if not request.wait_for_completion:
        return
    if request.deferrable:
        kind = import_string("airflow.providers.standard.triggers.external_task.DagStateTrigger")
        states = [str(state) for state in (*request.allowed_states, *request.failed_states)]
        trigger = kind(
            dag_id=request.trigger_dag_id, states=states, run_ids=[run_id], poll_interval=request.poke_interval
        )
        raise TaskDeferred(trigger=trigger, method_name="execute_complete", kwargs=None)
    _wait(request, run_id, ti)


def _wait(request, run_id: str, ti) -> None:
    allowed = {str(state) for state in request.allowed_states}
    failed = {str(state) for state in request.failed_states}
    while True:
        _log.info("Waiting for %s, run %s, to become %s", request.trigger_dag_id, run_id, " or ".join(sorted(allowed)))
        time.sleep(request.poke_interval)
        state = ti.get_dagrun_state(request.trigger_dag_id, run_id)
        if state in failed:
            raise AirflowException(f"{request.trigger_dag_id}, run {run_id}, is {state}")
        if state in allowed:
            return
