"""Values that travel between tasks: Python ↔ JSON, in the form of Airflow's serde.

What JSON cannot say becomes `{"__classname__": …, "__version__": …, "__data__": …}`. Beyond Airflow's own types there are
bytes, time, paths, enums, complex numbers, numbers that are not finite and integers beyond all floats. Objects of authors'
classes are in xcom_classes.py, frames and arrays in xcom_libraries.py. Nothing is pickled: what would arrive as something
else is refused.
"""

from __future__ import annotations

import base64
import datetime
import enum
import json
import math
import os
import sys

from ..record.assets import Asset
from .xcom_classes import class_name, decode_object, encode_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CLASS, _VERSION, _DATA = "__classname__", "__version__", "__data__"
_RESERVED = (_CLASS, "__id__")
# Beyond it there are no floats, and readers in other languages have no numbers either.
MAX_INTEGER = int(sys.float_info.max)
_MAX_DEPTH = 200
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_ASSET = "airflow.sdk.definitions.asset.Asset"
_PATH = "airflow.sdk.io.path.ObjectStoragePath"


class XComEncodeError(TypeError):
    """A value that cannot be passed to another task."""


def _tagged(name: str, version: int, data) -> dict:
    return {_CLASS: name, _VERSION: version, _DATA: data}


def encode(value, _depth: int = 0):
    """A JSON value, or XComEncodeError that says which type was in the way."""
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        return _text(value)
    if kind is int:
        return value if -MAX_INTEGER <= value <= MAX_INTEGER else _tagged("builtins.int", 1, str(value))
    if kind is float:
        return value if math.isfinite(value) else _tagged("builtins.float", 1, str(value))
    if _depth > _MAX_DEPTH:
        raise XComEncodeError(f"the value is nested deeper than {_MAX_DEPTH} levels or contains itself")
    if kind is list:
        return [encode(item, _depth + 1) for item in value]
    if isinstance(value, dict):
        return _encode_dict(value, _depth)
    if str(kind.__module__).partition(".")[0] in _LIBRARIES:
        return _encode_library(value, _depth + 1)
    if (isinstance(value, enum.Enum) and not _is_own_word(value)) or (isinstance(value, tuple) and kind is not tuple):
        found = encode_object(value, lambda item: encode(item, _depth + 1))
        if found is not None:
            return found
    for kinds, encoder in _ENCODERS:
        if _is_one(value, kinds):
            return encoder(value, _depth + 1)
    if hasattr(value, "svc_lazy_sequence"):
        return [encode(item, _depth + 1) for item in value]
    found = None if isinstance(value, type) else encode_object(value, lambda item: encode(item, _depth + 1))
    if found is not None:
        return found
    raise XComEncodeError(
        f"cannot pass a value of type {class_name(kind)} to another task; return JSON values, dates, sets, tuples, "
        "dataclasses, models or frames, or write it to storage and return its place"
    )


# The libraries of xcom_libraries.py, which is loaded only for values of theirs.
_LIBRARIES = frozenset({"numpy", "pandas", "polars", "pyarrow", "deltalake", "pyiceberg"})


def _encode_library(value, depth: int) -> dict:
    from .xcom_libraries import Unsupported, encode_library

    try:
        return _tagged(*encode_library(value, lambda item: encode(item, depth)))
    except Unsupported as reason:
        raise XComEncodeError(str(reason)) from None


def _is_own_word(value) -> bool:
    """States and rules of ours are words wherever people read them."""
    return isinstance(value, str) and type(value).__module__.startswith(("svc_runtime.", "airflow."))


def _is_one(value, kinds) -> bool:
    """Of the kinds; or of the class of that name, whose module must be loaded for there to be a value of it."""
    if type(kinds) is not str:
        return isinstance(value, kinds)
    module, _, name = kinds.rpartition(".")
    return isinstance(value, getattr(sys.modules.get(module), name, ()))


def _text(value: str) -> str:
    if "\0" in value:
        raise XComEncodeError("a text with the character NUL cannot be passed to another task")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise XComEncodeError("a text with lone surrogates cannot be passed to another task") from None
    return str(value)


def _encode_dict(value: dict, depth: int) -> dict:
    if any(key in value for key in _RESERVED):
        raise XComEncodeError(f"a dict that is passed to another task must not have the keys {_CLASS} or __id__")
    return {_text(str(key)): encode(item, depth + 1) for key, item in value.items()}


def _sorted_items(value, depth: int) -> list:
    """Sets have no order; a fixed one makes equal values equal text."""
    return sorted((encode(item, depth) for item in value), key=lambda item: json.dumps(item, sort_keys=True))


def _encode_datetime(value, depth):
    is_pendulum = type(value).__module__.startswith("pendulum")
    name = "pendulum.datetime.DateTime" if is_pendulum else "datetime.datetime"
    if value.tzinfo is None:
        # Wall-clock time without a zone: read as UTC, and marked as having none.
        return _tagged(name, 2, {**_stamp(value.replace(tzinfo=datetime.timezone.utc)), "tz": None})
    return _tagged(name, 2, {**_stamp(value), "tz": _encode_zone(value.tzinfo, value)})


def _stamp(value) -> dict:
    """Seconds as a float, as Airflow has them. Some centuries away these have no microseconds any more, and are told apart."""
    stamp = value.timestamp()
    try:
        if datetime.datetime.fromtimestamp(stamp, datetime.timezone.utc) == value:
            return {"timestamp": stamp}
    except (OverflowError, ValueError):
        pass  # rounded up to beyond the last year
    # A plain one: pendulum's differences are a class of their own.
    day, clock = value.date(), value.timetz()
    since = datetime.datetime.combine(datetime.date(day.year, day.month, day.day), clock) - _EPOCH
    return {"timestamp": stamp, "exact": [since.days * 86_400 + since.seconds, since.microseconds]}


def _encode_timedelta(value, depth):
    seconds = value.total_seconds()
    is_exact = abs(value.days) < 1e8 and datetime.timedelta(seconds=seconds) == value
    data = seconds if is_exact else [value.days, value.seconds, value.microseconds]
    return _tagged("datetime.timedelta", 2, data)


def _encode_zone(zone, moment=None):
    name = next((n for n in (getattr(zone, key, None) for key in ("key", "zone", "name")) if isinstance(n, str)), None)
    if name and name[:1] not in "+-":
        kind = class_name(type(zone))
        kind = kind if kind in ("zoneinfo.ZoneInfo", "pendulum.tz.timezone.Timezone") else "zoneinfo.ZoneInfo"
        return _tagged("builtins.tuple", 1, [name, kind, 1, True])
    offset = int((zone.utcoffset(moment) or datetime.timedelta()).total_seconds())
    return _tagged("builtins.tuple", 1, [offset or "UTC", "pendulum.tz.timezone.FixedTimezone", 1, True])


def _encode_timezone(value, depth):
    return _tagged(class_name(type(value)), 1, encode(_encode_zone(value)[_DATA][0]))


def _encode_decimal(value, depth):
    import decimal

    number = float(value) if value.is_finite() else None
    if number is not None and decimal.Decimal(str(number)) == value and str(number) == str(value):
        return _tagged("decimal.Decimal", 1, number)
    return _tagged("decimal.Decimal", 1, str(value))


def _encode_path(value, depth):
    kind = type(value)
    if kind.__module__.partition(".")[0] != "pathlib":
        raise XComEncodeError(
            f"cannot pass a value of type {class_name(kind)} to another task; return its path as text: os.fspath(…)"
        )
    return _tagged(f"pathlib.{kind.__name__}", 1, _text(os.fspath(value)))


def _encode_asset(value, depth):
    fields = {"name": value.name, "uri": value.uri, "group": value.group, "extra": encode(value.extra, depth)}
    return _tagged(_ASSET, 1, fields)


# The first that fits. By name: what few values are of, and what would take long to load for all the others (a pod for one attempt
# has to load everything it uses).
_ENCODERS: list = [
    (bool, lambda value, depth: bool(value)),
    (str, lambda value, depth: _text(str.__str__(value))),
    (int, lambda value, depth: encode(int(value), depth)),
    (float, lambda value, depth: encode(float(value), depth)),
    (tuple, lambda value, depth: _tagged("builtins.tuple", 1, [encode(item, depth) for item in value])),
    (list, lambda value, depth: [encode(item, depth) for item in value]),
    (frozenset, lambda value, depth: _tagged("builtins.frozenset", 1, _sorted_items(value, depth))),
    (set, lambda value, depth: _tagged("builtins.set", 1, _sorted_items(value, depth))),
    (datetime.datetime, _encode_datetime),
    (datetime.date, lambda value, depth: _tagged("datetime.date", 2, value.isoformat()[:10])),
    (datetime.time, lambda value, depth: _tagged("datetime.time", 1, value.isoformat())),
    (datetime.timedelta, _encode_timedelta),
    (datetime.tzinfo, _encode_timezone),
    (bytes, lambda value, depth: _tagged("builtins.bytes", 1, base64.b64encode(value).decode("ascii"))),
    (bytearray, lambda value, depth: _tagged("builtins.bytearray", 1, base64.b64encode(value).decode("ascii"))),
    (complex, lambda value, depth: _tagged("builtins.complex", 1, [encode(value.real), encode(value.imag)])),
    ("decimal.Decimal", _encode_decimal),
    ("uuid.UUID", lambda value, depth: _tagged("uuid.UUID", 1, str(value))),
    (Asset, _encode_asset),
    (
        "svc_runtime.run.files.ObjectStoragePath",
        lambda value, depth: _tagged(_PATH, 1, encode(value.serialize(), depth)),
    ),
    (os.PathLike, _encode_path),
]


def decode(value):
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if _CLASS not in value:
        return {key: decode(item) for key, item in value.items()}
    name, data = str(value[_CLASS]), value.get(_DATA)
    decoder = _DECODERS.get(name)
    if decoder is not None:
        return decoder(data)
    if name.partition(".")[0] in _LIBRARIES:
        from .xcom_libraries import decode_library

        return decode_library(name, data, decode)
    return decode_object(value, decode)


def _decode_paths(name: str) -> Callable:
    def path_of(data):
        import pathlib

        return getattr(pathlib, name)(data)

    return path_of


def _decode_datetime(data):
    zone = data.get("tz")
    if "exact" in data:
        seconds, microseconds = data["exact"]
        moment = _EPOCH + datetime.timedelta(seconds=seconds, microseconds=microseconds)
    else:
        moment = datetime.datetime.fromtimestamp(data["timestamp"], datetime.timezone.utc)
    if zone is None:
        return moment.replace(tzinfo=None)
    return moment.astimezone(_decode_zone(zone))


def _decode_timedelta(data):
    return datetime.timedelta(*data) if isinstance(data, list) else datetime.timedelta(seconds=data)


def _decode_pendulum(data):
    import pendulum

    moment = _decode_datetime(data)
    return pendulum.instance(moment, tz=None) if moment.tzinfo is None else pendulum.instance(moment)


def _decode_zone(zone):
    """A name, seconds east of UTC, or either as the first part of the form Airflow writes."""
    if isinstance(zone, dict):
        zone = zone[_DATA][0]
    elif isinstance(zone, list):
        zone = zone[0]
    if isinstance(zone, (int, float)):
        return datetime.timezone(datetime.timedelta(seconds=zone))
    if zone == "UTC":
        return datetime.timezone.utc
    import zoneinfo

    return zoneinfo.ZoneInfo(zone)


def _decode_pendulum_zone(data):
    import pendulum

    return pendulum.timezone(data)


def _decode_decimal(data):
    import decimal

    return decimal.Decimal(str(data))


def _decode_uuid(data):
    import uuid

    return uuid.UUID(data)


def _decode_path(data):
    from .files import ObjectStoragePath

    return ObjectStoragePath.deserialize(decode(data))


_DECODERS: dict[str, Callable] = {
    "builtins.tuple": lambda data: tuple(decode(item) for item in data),
    "builtins.set": lambda data: {decode(item) for item in data},
    "builtins.frozenset": lambda data: frozenset(decode(item) for item in data),
    "builtins.bytes": base64.b64decode,
    "builtins.bytearray": lambda data: bytearray(base64.b64decode(data)),
    "builtins.complex": lambda data: complex(decode(data[0]), decode(data[1])),
    **{
        f"pathlib.{name}": _decode_paths(name)
        for name in ("PosixPath", "PurePosixPath", "PureWindowsPath", "WindowsPath")
    },
    "builtins.int": int,
    "builtins.float": float,
    "datetime.datetime": _decode_datetime,
    "pendulum.datetime.DateTime": _decode_pendulum,
    "datetime.date": datetime.date.fromisoformat,
    "datetime.time": datetime.time.fromisoformat,
    "datetime.timedelta": _decode_timedelta,
    "zoneinfo.ZoneInfo": _decode_zone,
    "datetime.timezone": _decode_zone,
    "pendulum.tz.timezone.Timezone": _decode_pendulum_zone,
    "pendulum.tz.timezone.FixedTimezone": _decode_pendulum_zone,
    "decimal.Decimal": _decode_decimal,
    "uuid.UUID": _decode_uuid,
    _ASSET: lambda data: Asset(**decode(data)),
    _PATH: _decode_path,
}


class XComTooLarge(ValueError):
    """More bytes than `xcom.max_bytes` allows."""
