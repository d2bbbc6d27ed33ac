"""The context of a running task: what functions, templates and callbacks may ask for by name."""

from __future__ import annotations

from ..record.notset import NOTSET
from . import macros, old_context
from .asset_events import InletEvents, OutletEvents, TriggeringEvents
from .lazy_context import LazyContext
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


def build_context(job: dict, dag, run, ti, channel) -> LazyContext:
    """`ti` is None for callbacks of a whole run."""
    task = ti.task if ti is not None else None
    values: dict = {
        "dag": dag,
        "dag_run": run,
        "run_id": run.run_id,
        "params": merged_params(job, task),
        "macros": macros,
        "templates_dict": None,
        "test_mode": False,
    }
    if ti is not None:
        values.update(_of_the_task(job, task, ti))
    is_dated = job["run"].get("logical_date") is not None
    makers = _MAKERS[is_dated, ti is not None]
    if ti is not None and (values["inlets"] or values["outlets"]) and _has_state(values):
        makers = {**makers, **_OF_TASKS_WITH_ASSETS}
    old = old_context.makers(is_dated)
    context = LazyContext(values, {**makers, **old} if old_context.is_mentioned() else makers, old)
    context.svc_job = job
    context.svc_channel = channel
    if ti is not None:
        ti.svc_context = context
    return context


def _has_state(values: dict) -> bool:
    """Without an asset that can keep state, the context has no `asset_state_store`, as on Airflow."""
    return _state_stores().has_state([*values["inlets"], *values["outlets"]])


def _of_the_task(job: dict, task, ti) -> dict:
    return {
        "task": task,
        "ti": ti,
        "task_instance": ti,
        "try_number": ti.try_number,
        "inlets": list(task.inlets),
        "outlets": list(task.outlets),
        "expanded_ti_count": (job.get("expanded") or {}).get("length"),
        "map_index_template": task.map_index_template,
        "task_reschedule_count": job.get("reschedule_count") or 0,
    }


def _of_previous(name: str):
    return lambda context: moment((context.svc_job.get("previous") or {}).get(name))


def _date(form: str):
    return lambda context: context["logical_date"].strftime(form)


def _key_text(context) -> str:
    ti = context["ti"]
    return f"{ti.dag_id}__{ti.task_id}__{context['logical_date'].strftime('%Y%m%d')}"


def _state_stores():
    """Imported by the tasks that use it."""
    from . import state_stores

    return state_stores


# What few bodies ask for. Runs without a logical date have none of the names made from it, as in Airflow 3.
_OF_RUNS = {
    "data_interval_start": lambda context: context["dag_run"].data_interval_start,
    "data_interval_end": lambda context: context["dag_run"].data_interval_end,
    "partition_date": lambda context: context["dag_run"].partition_date,
    "partition_key": lambda context: context["dag_run"].partition_key,
    "conn": lambda context: ConnectionAccessor(),
    "var": lambda context: {"value": VariableAccessor(False), "json": VariableAccessor(True)},
    "triggering_asset_events": lambda context: TriggeringEvents(context.svc_channel),
    "triggering_dataset_events": lambda context: context["triggering_asset_events"],
    "prev_start_date_success": _of_previous("start_date_success"),
    "prev_end_date_success": _of_previous("end_date_success"),
    "prev_data_interval_start_success": _of_previous("data_interval_start_success"),
    "prev_data_interval_end_success": _of_previous("data_interval_end_success"),
}
_OF_DATED_RUNS = {
    "logical_date": lambda context: context["dag_run"].logical_date,
    "ds": _date("%Y-%m-%d"),
    "ds_nodash": _date("%Y%m%d"),
    "ts": lambda context: context["logical_date"].isoformat(),
    "ts_nodash": _date("%Y%m%dT%H%M%S"),
    "ts_nodash_with_tz": lambda context: context["ts"].replace("-", "").replace(":", ""),
}
_OF_TASKS = {
    "start_date": lambda context: context["ti"].start_date,
    "outlet_events": lambda context: OutletEvents(context["outlets"]),
    "inlet_events": lambda context: InletEvents(context["inlets"], context.svc_channel),
    "task_state_store": lambda context: _state_stores().TaskStateStoreAccessor(context.svc_channel),
}
_OF_TASKS_WITH_ASSETS = {
    "asset_state_store": lambda context: _state_stores().AssetStateStoreAccessors(
        context.svc_channel, context["inlets"], context["outlets"]
    ),
}
# By whether the run has a logical date, and whether there is a task.
_MAKERS = {
    (False, False): _OF_RUNS,
    (True, False): {**_OF_RUNS, **_OF_DATED_RUNS},
    (False, True): {**_OF_RUNS, **_OF_TASKS},
    (True, True): {**_OF_RUNS, **_OF_DATED_RUNS, **_OF_TASKS, "task_instance_key_str": _key_text},
}
