"""The context of a running task: what functions, templates and callbacks may ask for by name."""

from __future__ import annotations

from ..record.notset import NOTSET
from . import macros
from .asset_events import InletEvents, OutletEvents, TriggeringEvents
from .helpers import Context
from .moments import moment


class VariableAccessor:
    """`var.value.x`, `var.value.get('x', 'default')`, and the same with `json`."""

    def __init__(self, deserialize: bool) -> None:
        self._deserialize = deserialize

    def __getattr__(self, key: str):
        if key.startswith("__"):
            raise AttributeError(key)
        return self.get(key)

    def get(self, key: str, default_var=NOTSET):
        from .secrets import Variable

        return Variable.get(key, default=default_var, deserialize_json=self._deserialize)


class ConnectionAccessor:
    """`conn.my_db.host`, `conn.get('my_db', default)`."""

    def __getattr__(self, conn_id: str):
        if conn_id.startswith("__"):
            raise AttributeError(conn_id)
        from .secrets import Connection

        return Connection.get(conn_id)

    def get(self, conn_id: str, default_conn=None):
        from ..exceptions import AirflowNotFoundException

        try:
            return getattr(self, conn_id)
        except AirflowNotFoundException:
            return default_conn


def merged_params(job: dict, task) -> dict:
    """The DAG's params with the run's conf, as the control plane merged them; the task's own come between the two."""
    conf = job["run"].get("conf") or {}
    params = dict(job.get("params") or {})
    for name in task.params if task is not None else ():
        if name not in conf:
            params[name] = task.params[name]
    return params


def build_context(job: dict, dag, run, ti, channel) -> Context:
    """`ti` is None for callbacks of a whole run."""
    values: dict = {
        "dag": dag,
        "dag_run": run,
        "run_id": run.run_id,
        "data_interval_start": run.data_interval_start,
        "data_interval_end": run.data_interval_end,
        "params": merged_params(job, ti.task if ti is not None else None),
        "conn": ConnectionAccessor(),
        "var": {"value": VariableAccessor(False), "json": VariableAccessor(True)},
        "macros": macros,
        "templates_dict": None,
        "test_mode": False,
        "triggering_asset_events": TriggeringEvents(channel),
    }
    values["triggering_dataset_events"] = values["triggering_asset_events"]
    values.update(_dates(run))
    previous = job.get("previous") or {}
    for name in ("start_date", "end_date", "data_interval_start", "data_interval_end"):
        values[f"prev_{name}_success"] = moment(previous.get(f"{name}_success"))
    if ti is not None:
        values.update(_of_the_task(job, run, ti, channel))
    context = Context(values)
    if ti is not None:
        ti.svc_context = context
    return context


def _of_the_task(job: dict, run, ti, channel) -> dict:
    task = ti.task
    values = {
        "task": task,
        "ti": ti,
        "task_instance": ti,
        "start_date": ti.start_date,
        "try_number": ti.try_number,
        "inlets": list(task.inlets),
        "outlets": list(task.outlets),
        "outlet_events": OutletEvents(task.outlets),
        "inlet_events": InletEvents(task.inlets, channel),
        "expanded_ti_count": (job.get("expanded") or {}).get("length"),
        "map_index_template": task.map_index_template,
        "task_reschedule_count": job.get("reschedule_count") or 0,
    }
    if run.logical_date is not None:
        values["task_instance_key_str"] = f"{ti.dag_id}__{ti.task_id}__{run.logical_date.strftime('%Y%m%d')}"
    return values


def _dates(run) -> dict:
    """Runs without a logical date have none of these names, as in Airflow 3."""
    date = run.logical_date
    if date is None:
        return {}
    ds = date.strftime("%Y-%m-%d")
    ts = date.isoformat()
    return {
        "logical_date": date,
        "ds": ds,
        "ds_nodash": ds.replace("-", ""),
        "ts": ts,
        "ts_nodash": date.strftime("%Y%m%dT%H%M%S"),
        "ts_nodash_with_tz": ts.replace("-", "").replace(":", ""),
    }
