"""Deferred operators. A task that defers ends its attempt: the control plane keeps what it waits for, a triggerer waits for it
(or the engine itself, for a moment), and the same try goes on in another attempt, with the event.
"""

from __future__ import annotations

import datetime
import json

from ..exceptions import TaskDeferred
from ..record.timezones import parse_iso
from .awaited_runs import awaits_of, event_of_runs
from .moments import iso
from .xcom_values import decode, encode

# Decided by the engine, without a process.
TIME_TRIGGER = "airflow.providers.standard.triggers.temporal.DateTimeTrigger"
TIME_DELTA_TRIGGER = "airflow.providers.standard.triggers.temporal.TimeDeltaTrigger"


def run_body(task, context, resume: dict | None):
    """execute(), or the method that a deferred try goes on with."""
    if resume is not None:
        method, kwargs = next_call(resume)
        return task.resume_execution(method, kwargs, context)
    arguments = getattr(task, "start_trigger_args", None)
    if getattr(task, "start_from_trigger", False) and arguments is not None:
        raise started_from_trigger(arguments)
    return task.execute(context)


def started_from_trigger(arguments) -> TaskDeferred:
    from .helpers import import_string

    trigger = import_string(arguments.trigger_cls)(**(arguments.trigger_kwargs or {}))
    return TaskDeferred(
        trigger=trigger, method_name=arguments.next_method, kwargs=arguments.next_kwargs, timeout=arguments.timeout
    )


def next_call(resume: dict) -> tuple[str, dict]:
    """The method and its arguments; a trigger that failed or took too long is a call of `__fail__`, as in Airflow."""
    event = json.loads(resume["event"])
    if "error" in event:
        return "__fail__", {"error": event["error"], "traceback": event.get("traceback")}
    kwargs = decode(json.loads(resume["next_kwargs"])) or {}
    return resume["next_method"], {**kwargs, "event": _event_of(event)}


def _event_of(event: dict):
    """`moment`, `runs`: the engine has waited itself, for a time that it worked out or for runs of another DAG."""
    if "moment" in event:
        return parse_iso(event["moment"])
    if "runs" in event:
        return event_of_runs(event["runs"])
    return decode(event.get("payload"))


def deferral_of(deferred: TaskDeferred) -> dict:
    """What the control plane keeps. Values are JSON texts: it carries them and does not look into them."""
    class_path, kwargs = deferred.trigger.serialize()
    moment, event = _moment_of(class_path, kwargs)
    return {
        "classPath": class_path,
        "kwargs": json.dumps(encode(dict(kwargs))),
        "nextMethod": deferred.method_name,
        "nextKwargs": json.dumps(encode(dict(deferred.kwargs or {}))),
        "timeoutSeconds": seconds_of(deferred.timeout),
        "firesAt": moment,
        "event": event,
        "awaits": awaits_of(class_path, kwargs),
    }


def _moment_of(class_path: str, kwargs: dict) -> tuple[str | None, str | None]:
    moment = kwargs.get("moment")
    if class_path != TIME_TRIGGER or not isinstance(moment, datetime.datetime):
        return None, None
    event = {"ends": "success"} if kwargs.get("end_from_trigger") else {"payload": encode(moment)}
    return iso(moment), json.dumps(event)


def seconds_of(timeout) -> float | None:
    if timeout is None:
        return None
    return timeout.total_seconds() if hasattr(timeout, "total_seconds") else float(timeout)
