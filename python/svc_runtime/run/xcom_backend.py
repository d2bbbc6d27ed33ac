"""The class that `[core] xcom_backend` names: an author's `BaseXCom`, which may keep values where it likes.

It is called in the process of the task. What its `serialize_value` returns is stored in place of the value, and its
`deserialize_value` makes the value of it again.
"""

from __future__ import annotations

import importlib
import json
from types import SimpleNamespace

from .xcom_values import XComEncodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OWN = "BaseXCom"


def backend_of_repository() -> Any:
    """None where the repository names none, or Airflow's own."""
    from .conf import settings_of_repository

    path = settings_of_repository().get("core", {}).get("xcom_backend", "").strip()
    module, _, name = path.rpartition(".")
    if not module or name == _OWN:
        return None
    backend = getattr(importlib.import_module(module), name, None)
    if backend is None:
        raise ImportError(f"[core] xcom_backend is {path}, and {module} has no {name}: correct the setting")
    return backend


def serialize(backend, value, *, key: str, place: dict):
    """JSON, as the backend wants it to be stored."""
    found = backend.serialize_value(value, key=key, **place)
    try:
        json.dumps(found, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise XComEncodeError(
            f"{backend.__name__}.serialize_value returned a {type(found).__name__} that is no JSON ({error}): let it return "
            "BaseXCom.serialize_value(…) of a text or another JSON value"
        ) from None
    return found


def result_of(entry: dict, stored, place: dict) -> SimpleNamespace:
    """What `deserialize_value` and `purge` are given: names of an XCom, and what is stored."""
    fields = {**place, **{name: entry[name] for name in ("key", "task_id", "map_index") if name in entry}}
    return SimpleNamespace(**fields, value=stored)
