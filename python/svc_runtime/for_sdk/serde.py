"""`airflow.sdk.serde`: values to JSON and back, as they travel between tasks (run/xcom_values.py)."""

from __future__ import annotations

from ..run.xcom_values import decode as _decode_value
from ..run.xcom_values import encode as _encode_value

CLASSNAME, VERSION, DATA = "__classname__", "__version__", "__data__"


def serialize(o: object, depth: int = 0):
    """A JSON value. A value that cannot travel raises TypeError, which names its type."""
    return _encode_value(o, depth)


def deserialize(o, full: bool = True, type_hint=None):
    if not full:
        raise ValueError("deserialize(full=False) is not supported: print the value of serialize() instead")
    if type_hint is not None and isinstance(o, dict) and CLASSNAME not in o:
        name = type_hint if isinstance(type_hint, str) else f"{type_hint.__module__}.{type_hint.__qualname__}"
        o = encode(name, getattr(type_hint, "__version__", 0), o)
    return _decode_value(o)


def encode(cls: str, version: int, data) -> dict:
    return {CLASSNAME: cls, VERSION: version, DATA: data}


def decode(d: dict) -> tuple[str, int, object]:
    if CLASSNAME not in d or VERSION not in d:
        raise ValueError(f"cannot decode {d!r}: {CLASSNAME} or {VERSION} is missing")
    return d[CLASSNAME], d[VERSION], d.get(DATA)
