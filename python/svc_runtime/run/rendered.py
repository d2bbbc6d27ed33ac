"""Template fields after rendering, as the UI shows them: JSON values, masked, and not longer than a page."""

from __future__ import annotations

import math

from ..record.notset import NOTSET
from .logs import clean
from .masks import masks
from .xcom_values import MAX_INTEGER

MAX_LENGTH = 4096
_MAX_DEPTH = 20


def rendered_fields(task) -> dict:
    fields = {}
    for name in task.template_fields:
        value = getattr(task, name, None)
        if value is NOTSET and name in task.svc_set_by_body:
            value = "DYNAMIC (set during execution)"
        fields[name] = _shown(name, value)
    return fields


def _shown(name: str, value):
    if value is None:
        return None
    if type(value) is tuple and not value:
        return []
    try:
        plain = masks.apply_deep(_plain(value, 0), name)
        text = plain if isinstance(plain, str) else str(plain)
    except Exception as error:  # __str__ of a value is the author's code
        return f"(cannot be shown: {type(error).__name__})"
    if len(text) <= MAX_LENGTH:
        return plain
    return f"Truncated. The field has {len(text)} characters. First part: {text[: MAX_LENGTH // 2]} ..."


def _plain(value, depth: int):
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean(str(value))
    if isinstance(value, int):
        return value if abs(value) <= MAX_INTEGER else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if type(value) not in (dict, list, tuple) and hasattr(value, "svc_lazy_sequence"):
        # Showing them would fetch them, and there may be thousands.
        return "(values of mapped instances)"
    if depth < _MAX_DEPTH:
        if isinstance(value, dict):
            plain = {}
            for key, item in value.items():
                plain[clean(str(key))] = _plain(item, depth + 1)
            return plain
        if isinstance(value, (list, tuple)):
            return [_plain(item, depth + 1) for item in value]
        if isinstance(value, (set, frozenset)):
            return sorted((_plain(item, depth + 1) for item in value), key=str)
    return clean(str(value))
