"""`start_from_trigger`: what a task waits for before anything of it runs, when that is known at compile time.

The engine then defers the task by itself, and no process is started to say what it waits for. What a file only knows at run time
(templates, values of other tasks, arguments of mapped tasks) is left out here: such a task is deferred by its first attempt.
"""

from __future__ import annotations

import datetime
import decimal
import json
import uuid

from .encode import whole

_PLAIN = (bool, int, float, bytes, datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, uuid.UUID)


def start_trigger_spec(task) -> dict:
    arguments = getattr(task, "start_trigger_args", None)
    if task.is_mapped or getattr(task, "start_from_trigger", False) is not True or arguments is None:
        return {}
    kwargs, next_kwargs = (dict(given or {}) for given in (arguments.trigger_kwargs, arguments.next_kwargs))
    if not isinstance(arguments.trigger_cls, str) or not _is_plain([kwargs, next_kwargs, arguments.timeout]):
        return {}
    # Few files need it, and loading it takes time.
    from ..run.deferral import seconds_of
    from ..run.xcom_values import XComEncodeError, encode

    try:
        spec = {
            "class_path": arguments.trigger_cls,
            "kwargs": json.dumps(encode(kwargs)),
            "next_method": arguments.next_method,
            "next_kwargs": json.dumps(encode(next_kwargs)),
            "timeout": whole(seconds_of(arguments.timeout)),
        }
    except XComEncodeError:
        return {}
    fires = _fires(arguments.trigger_cls, kwargs)
    return {"start_trigger": {**spec, "fires": fires} if fires else spec}


def _is_plain(value) -> bool:
    if isinstance(value, str):
        return "{{" not in value and "{%" not in value
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value) and _is_plain(list(value.values()))
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, _PLAIN)


def _fires(class_path: str, kwargs: dict) -> dict | None:
    """Of time triggers, for which the engine waits itself."""
    from ..run.deferral import TIME_DELTA_TRIGGER, TIME_TRIGGER

    ends = bool(kwargs.get("end_from_trigger"))
    moment = kwargs.get("moment")
    if class_path == TIME_TRIGGER and isinstance(moment, datetime.datetime) and moment.tzinfo is not None:
        return {"at": moment.astimezone(datetime.timezone.utc).isoformat(), "ends": ends}
    delta = kwargs.get("delta")
    if class_path == TIME_DELTA_TRIGGER and isinstance(delta, datetime.timedelta):
        return {"after": whole(max(0.0, delta.total_seconds())), "ends": ends}
    return None
