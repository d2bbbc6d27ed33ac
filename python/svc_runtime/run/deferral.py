"""Deferred operators. A task that defers ends its attempt: the control plane keeps what it waits for, a triggerer waits for it
(or the engine itself, for a moment), and the same try goes on in another attempt, with the event.
"""

from __future__ import annotations

import datetime
import json

from ..exceptions import TaskDeferred
from .moments import iso
from .xcom_values import decode, encode

# Decided by the engine, without a process.
_TIME = "airflow.providers.standard.triggers.temporal.DateTimeTrigger"


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
    return resume["next_method"], {**kwargs, "event": decode(event.get("payload"))}


def deferral_of(deferred: TaskDeferred) -> dict:
    """What the control plane keeps. Values are JSON texts: it carries them and does not look into them."""
    class_path, kwargs = deferred.trigger.serialize()
    moment, event = _moment_of(class_path, kwargs)
    return {
        "classPath": class_path,
        "kwargs": json.dumps(encode(dict(kwargs))),
        "nextMethod": deferred.method_name,
        "nextKwargs": json.dumps(encode(dict(deferred.kwargs or {}))),
        "timeoutSeconds": _seconds(deferred.timeout),
        "firesAt": moment,
        "event": event,
    }


def _moment_of(class_path: str, kwargs: dict) -> tuple[str | None, str | None]:
    moment = kwargs.get("moment")
    if class_path != _TIME or not isinstance(moment, datetime.datetime):
        return None, None
    event = {"ends": "success"} if kwargs.get("end_from_trigger") else {"payload": encode(moment)}
    return iso(moment), json.dumps(event)


def _seconds(timeout) -> float | None:
    if timeout is None:
        return None
    return timeout.total_seconds() if hasattr(timeout, "total_seconds") else float(timeout)
