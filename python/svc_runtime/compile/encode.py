"""Python values → JSON values of the spec.

What JSON cannot say gets a tag: `{"__type": "datetime", …}`. Task bodies run later from the same source in the same
environment, so functions and foreign objects are references, never contents. Nothing that differs between two
compiles of the same file may leave here: no memory addresses, no absolute paths, no set order.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import functools
import math
import os
import re
import uuid
from types import FunctionType, ModuleType

from ..exceptions import RecordingError
from ..record.assets import Asset, AssetAlias, AssetNameRef, AssetUriRef, BaseAsset
from ..record.deadline import Callback
from ..record.expand import MappedArgument
from ..record.node import TaskNode
from ..record.notset import NOTSET
from ..record.params import DagParam, Param, ParamsDict
from ..record.provider_stubs import RecordedObject, Reference, StubModule
from ..record.timezones import zone_name
from ..record.xcomarg import ConcatXComArg, MapXComArg, PlainXComArg, XComArg, ZipXComArg, function_line
from .canonical import MAX_INTEGER, canonical_bytes

MAX_DEPTH = 60
DAGS_FOLDER_TOKEN = "$DAGS_FOLDER"


class Encoder:
    def __init__(self, dags_folder: str) -> None:
        self._folder = os.path.abspath(dags_folder) if dags_folder else ""

    def text(self, value: str) -> str:
        """Paths under the DAGs folder are written relative to a token: a checkout elsewhere is the same input."""
        if self._folder and len(self._folder) > 1 and self._folder in value:
            return value.replace(self._folder, DAGS_FOLDER_TOKEN)
        return str(value)

    def encode(self, value, depth: int = 0):
        if value is None or value is True or value is False:
            return value
        kind = type(value)
        if kind is str:
            return self.text(value)
        if kind is int:
            return value if abs(value) <= MAX_INTEGER else {"__type": "int", "value": str(value)}
        if depth > MAX_DEPTH:
            raise RecordingError(
                "an argument is nested deeper than 60 levels or contains itself", "Pass a flat value, or a reference"
            )
        if kind is float:
            return value if math.isfinite(value) else {"__type": "float", "value": str(value)}
        if kind is list:
            return [self.encode(item, depth + 1) for item in value]
        if isinstance(value, dict):
            return self._dict(value, depth)
        if isinstance(value, enum.Enum):
            return self.encode(value.value, depth + 1)
        for types, name in _HANDLERS:
            if isinstance(value, types):
                return getattr(self, name)(value, depth + 1)
        return self._object(value, depth + 1)

    def _dict(self, value: dict, depth: int):
        plain = all(isinstance(key, str) for key in value) and "__type" not in value
        if plain:
            return {self.text(str(key)): self.encode(item, depth + 1) for key, item in value.items()}
        items = [[self.encode(key, depth + 1), self.encode(item, depth + 1)] for key, item in value.items()]
        return {"__type": "dict", "items": sorted(items, key=canonical_bytes)}

    def _str(self, value, depth):
        return self.text(str(value))

    def _int(self, value, depth):
        return self.encode(int(value), depth)

    def _float(self, value, depth):
        return self.encode(float(value), depth)

    def _tuple(self, value, depth):
        return {"__type": "tuple", "items": [self.encode(item, depth) for item in value]}

    def _list(self, value, depth):
        return [self.encode(item, depth) for item in value]

    def _set(self, value, depth):
        return {"__type": "set", "items": sorted((self.encode(item, depth) for item in value), key=canonical_bytes)}

    def _datetime(self, value, depth):
        if value.tzinfo is None:
            return {"__type": "datetime", "value": value.isoformat()}
        return {"__type": "datetime", "value": value.isoformat(), "timezone": zone_name(value.tzinfo)}

    def _date(self, value, depth):
        return {"__type": "date", "value": value.isoformat()}

    def _time(self, value, depth):
        return {"__type": "time", "value": value.isoformat()}

    def _timedelta(self, value, depth):
        return {"__type": "timedelta", "seconds": seconds(value)}

    def _timezone(self, value, depth):
        return {"__type": "timezone", "name": zone_name(value)}

    def _bytes(self, value, depth):
        import base64

        return {"__type": "bytes", "base64": base64.b64encode(bytes(value)).decode("ascii")}

    def _decimal(self, value, depth):
        return {"__type": "decimal", "value": str(value)}

    def _uuid(self, value, depth):
        return {"__type": "uuid", "value": str(value)}

    def _pattern(self, value, depth):
        return {"__type": "pattern", "value": str(value.pattern)}

    def _path(self, value, depth):
        # Those in object stores are no local files, which is what os.fspath asks for.
        text = str(value) if type(value).__name__ == "ObjectStoragePath" else os.fspath(value)
        return {"__type": "path", "value": self.text(text)}

    def _xcom(self, value, depth):
        if isinstance(value, PlainXComArg):
            return {"__type": "xcom", "task_id": value.operator.task_id, "key": value.key}
        if isinstance(value, MapXComArg):
            functions = [self._callable(function, depth) for function in value.callables]
            return {"__type": "xcom_map", "source": self._xcom(value.arg, depth), "callables": functions}
        if isinstance(value, ZipXComArg):
            encoded = {"__type": "xcom_zip", "sources": [self.encode(arg, depth) for arg in value.args]}
            if value.fillvalue is not NOTSET:
                encoded["fillvalue"] = self.encode(value.fillvalue, depth)
            return encoded
        if isinstance(value, ConcatXComArg):
            return {"__type": "xcom_concat", "sources": [self.encode(arg, depth) for arg in value.args]}
        raise RecordingError(f"unknown kind of XComArg {type(value).__name__}")

    def _dag_param(self, value, depth):
        return {"__type": "dag_param", "name": value.name}

    def _mapped_argument(self, value, depth):
        return {"__type": "mapped_argument", "name": value.key}

    def _param(self, value, depth):
        return {"__type": "param", "value": None if value.value is NOTSET else self.encode(value.value, depth)}

    def _params(self, value, depth):
        return {name: self._param(param, depth) for name, param in value.param_items()}

    def _asset(self, value, depth):
        return {"__type": "asset", "asset": self.asset(value)}

    def asset(self, value) -> dict:
        """The asset forms used in inlets, outlets and conditions."""
        if isinstance(value, Asset):
            return {
                "type": "asset",
                "name": value.name,
                "uri": self.text(value.uri),
                "group": value.group,
                "extra": self.encode(value.extra),
            }
        if isinstance(value, AssetAlias):
            return {"type": "asset_alias", "name": value.name, "group": value.group}
        if isinstance(value, AssetNameRef):
            return {"type": "asset_name_ref", "name": value.name}
        if isinstance(value, AssetUriRef):
            return {"type": "asset_uri_ref", "uri": self.text(value.uri)}
        kind = {"AssetAny": "asset_any", "AssetAll": "asset_all", "MultiAssetDefinition": "asset_all"}[
            type(value).__name__
        ]
        return {"type": kind, "objects": [self.asset(member) for member in value.objects]}

    def _callback_path(self, value, depth):
        encoded = {"__type": "callable", "path": value.path, "arguments": self.encode(value.kwargs, depth)}
        return {**encoded, "mode": value.kind}

    def _callable(self, value, depth):
        if isinstance(value, functools.partial):
            inner = self._callable(value.func, depth)
            return {
                **inner,
                "partial": {
                    "args": self.encode(list(value.args), depth),
                    "kwargs": self.encode(dict(value.keywords), depth),
                },
            }
        if isinstance(value, (StubModule, Reference)):
            return self._reference(value, depth)
        function = getattr(value, "__func__", value)
        qualname = getattr(function, "__qualname__", None)
        if qualname is None:
            return self._object(value, depth)
        encoded = {"__type": "callable", "module": getattr(function, "__module__", None) or "", "qualname": qualname}
        line = function_line(function)
        # Lambdas have no name of their own; the line tells two of them apart.
        if line is not None and "<lambda>" in qualname:
            encoded["line"] = line
        return encoded

    def _reference(self, value, depth):
        path = value.__name__ if isinstance(value, StubModule) else value.svc_path
        return {"__type": "reference", "path": path}

    def _module(self, value, depth):
        return {"__type": "reference", "path": value.__name__}

    def _class(self, value, depth):
        return {"__type": "class", "path": f"{value.__module__}.{value.__qualname__}"}

    def _task(self, value, depth):
        return {"__type": "task", "task_id": value.task_id}

    def _literal(self, value, depth):
        return {"__type": "literal", "value": self.encode(value.value, depth)}

    def _object(self, value, depth):
        """Anything else: its class, and its arguments when it remembered them."""
        if isinstance(value, RecordedObject):
            return self._with_arguments(value, depth)
        if type(value).__name__ == "relativedelta":
            return {"__type": "relativedelta", **relativedelta_fields(value)}
        if type(value).__name__ == "LiteralValue":
            return self._literal(value, depth)
        if type(value).__name__ == "DAG" and hasattr(value, "dag_id"):
            return {"__type": "dag", "dag_id": value.dag_id}
        if value is NOTSET:
            return {"__type": "not_set"}
        if (callable(value) and hasattr(value, "__qualname__")) or hasattr(value, "svc_task_decorator"):
            return self._callable(getattr(value, "function", value), depth)
        return self._with_arguments(value, depth)

    def _with_arguments(self, value, depth):
        encoded: dict = {"__type": "object", "class": f"{type(value).__module__}.{type(value).__qualname__}"}
        fields = kubernetes_fields(value)
        arguments = ((), fields) if fields is not None else getattr(value, "__dict__", {}).get("svc_arguments")
        if arguments is not None:
            encoded["args"] = [self.encode(item, depth) for item in arguments[0]]
            encoded["kwargs"] = self.encode(dict(arguments[1]), depth)
        return encoded

    def callback(self, value) -> dict:
        """A callback is a function, a notifier object or a path."""
        return self.encode(value)


def kubernetes_fields(value) -> dict | None:
    """What a model of the Kubernetes client says, by the names of its constructor; None for anything else.

    Models are plain data, which a file may also change after it has made them. Recorded ones have what was changed
    beside their arguments; real ones (of the package itself, or of kubernetes_asyncio, which nothing stands in for) say
    which attributes they have.
    """
    if isinstance(value, RecordedObject):
        if not type(value).__module__.startswith("kubernetes.") or value.svc_arguments[0]:
            return None
        changed = {name: item for name, item in vars(value).items() if name != "svc_arguments"}
        return {**value.svc_arguments[1], **changed}
    names = getattr(type(value), "attribute_map", None)
    if not isinstance(names, dict) or not isinstance(getattr(type(value), "openapi_types", None), dict):
        return None
    fields = {name: getattr(value, name, None) for name in names}
    return {name: item for name, item in fields.items() if item is not None}


def seconds(value: datetime.timedelta):
    """Whole seconds as int; JSON readers then see 300, not 300.0."""
    total = value.total_seconds()
    return int(total) if total == int(total) else total


def whole(value):
    """What we compute with, not the author's data: 2.0 is 2."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def relativedelta_fields(value) -> dict:
    names = (
        "years months days leapdays hours minutes seconds microseconds year month day hour minute second microsecond"
    ).split()
    fields = {name: whole(getattr(value, name)) for name in names if getattr(value, name, None) not in (None, 0)}
    # An absolute 0 (hour=0) is meaningful, a relative 0 is not.
    for name in ("hour", "minute", "second", "microsecond"):
        if getattr(value, name) == 0:
            fields[name] = 0
    day = getattr(value, "weekday", None)
    if day is not None:
        fields["weekday"] = [day.weekday] if day.n is None else [day.weekday, day.n]
    return fields


_HANDLERS: list = [
    (str, "_str"),
    (int, "_int"),
    (float, "_float"),
    (XComArg, "_xcom"),
    (DagParam, "_dag_param"),
    (MappedArgument, "_mapped_argument"),
    (TaskNode, "_task"),
    (BaseAsset, "_asset"),
    (Param, "_param"),
    (ParamsDict, "_params"),
    (Callback, "_callback_path"),
    ((StubModule, Reference), "_reference"),
    (RecordedObject, "_object"),
    (type, "_class"),
    ((FunctionType, functools.partial), "_callable"),
    (ModuleType, "_module"),
    (tuple, "_tuple"),
    (list, "_list"),
    ((set, frozenset), "_set"),
    (datetime.datetime, "_datetime"),
    (datetime.date, "_date"),
    (datetime.time, "_time"),
    (datetime.timedelta, "_timedelta"),
    (datetime.tzinfo, "_timezone"),
    ((bytes, bytearray), "_bytes"),
    (decimal.Decimal, "_decimal"),
    (uuid.UUID, "_uuid"),
    (re.Pattern, "_pattern"),
    (os.PathLike, "_path"),
]
