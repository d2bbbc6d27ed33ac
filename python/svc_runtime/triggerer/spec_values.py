"""Values of a compiled DAG back to Python: arguments of watchers and of callbacks, which are recorded when the file is compiled."""

from __future__ import annotations

import base64
import datetime
import decimal
import pathlib
import re
import uuid
import zoneinfo

from ..run.helpers import import_string


def from_spec(value):
    if isinstance(value, list):
        return [from_spec(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("__type")
    if kind is None:
        return {name: from_spec(item) for name, item in value.items()}
    read = _READERS.get(kind)
    if read is None:
        raise ValueError(f"a value of kind {kind!r} cannot be an argument here")
    return read(value)


def _datetime(value: dict) -> datetime.datetime:
    moment = datetime.datetime.fromisoformat(value["value"])
    if "timezone" not in value or moment.tzinfo is None:
        return moment
    try:
        return moment.astimezone(zoneinfo.ZoneInfo(value["timezone"]))
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return moment  # a fixed offset, which the text has as well


def _object(value: dict):
    return import_string(value["class"])(*from_spec(value.get("args", [])), **from_spec(value.get("kwargs", {})))


_READERS = {
    "dict": lambda value: {_key(key): from_spec(item) for key, item in value["items"]},
    "tuple": lambda value: tuple(from_spec(value["items"])),
    "set": lambda value: {_key(item) for item in value["items"]},
    "datetime": _datetime,
    "date": lambda value: datetime.date.fromisoformat(value["value"]),
    "time": lambda value: datetime.time.fromisoformat(value["value"]),
    "timedelta": lambda value: datetime.timedelta(seconds=value["seconds"]),
    "timezone": lambda value: zoneinfo.ZoneInfo(value["name"]),
    "bytes": lambda value: base64.b64decode(value["base64"]),
    "decimal": lambda value: decimal.Decimal(value["value"]),
    "uuid": lambda value: uuid.UUID(value["value"]),
    "pattern": lambda value: re.compile(value["value"]),
    "path": lambda value: pathlib.Path(value["value"]),
    "object": _object,
    "class": lambda value: import_string(value["class"]),
    "callable": lambda value: import_string(value["path"]),
}


def _key(value):
    read = from_spec(value)
    return tuple(read) if isinstance(read, list) else read
