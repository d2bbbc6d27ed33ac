"""Variable and Connection as authors use them.

In a task they come from the operator's secrets backend, then the environment (with what the job brought from the built-in
vault), then the control plane. A default stands for what does not exist, not for a store that could not be asked.

While a file is compiled they come from the environment (`AIRFLOW_VAR_<KEY>`, `AIRFLOW_CONN_<ID>`), then from what answers the
compiler (compile/asked_values.py). It notes what was read, and the file is compiled again when that changes. Where nothing
answers, a given default stands in, with a warning; without one it is a compile error that says what to do.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os

from ..exceptions import (
    AirflowException,
    AirflowNotFoundException,
    AirflowRuntimeError,
    ExternalSecretsFailed,
    RecordingError,
)
from ..record import current as record_current
from ..record.notset import NOTSET
from . import current

_INSTEAD = "compile with a control plane, or read it inside a task"


def _check_asked(source, kind: str, name: str, found) -> None:
    failure = source.external_failure(kind, name)
    if found is None and failure is not None:
        raise ExternalSecretsFailed(f"{failure}, and the built-in vault has no {kind} {name}")


def _warn_if_hidden(source, key: str) -> None:
    try:
        is_hidden = source.external_variable(key) is not None
    except AirflowException:
        return  # said to whoever reads it
    if is_hidden:
        from .logs import say

        say(
            f"Variable {key} was set in the built-in vault, but the secrets backend has one of that name, "
            "and is asked first: tasks read that one",
            level=logging.WARNING,
        )


class VariableNotFound(AirflowNotFoundException, AirflowRuntimeError):
    """Code for Airflow 3 catches an AirflowRuntimeError."""


class Variable:
    def __init__(self, key: str, value=None, description: str | None = None) -> None:
        self.key = key
        self.value = value
        self.description = description

    @classmethod
    def get(cls, key: str, default=NOTSET, deserialize_json: bool = False, *, default_var=NOTSET):
        fallback = default if default is not NOTSET else default_var
        source = current.secrets_source
        external = source.external_variable(key) if source is not None else None
        text = external if external is not None else os.environ.get(f"AIRFLOW_VAR_{key.upper()}")
        if text is None and source is None and record_current.values is not None:
            text = record_current.values.get("variable", key)
        elif text is None and source is None and fallback is not NOTSET:
            record_current.asked_in_vain = True
            record_current.warn(
                f"Variable.get({key!r}) returned its default, because the file was compiled without a control plane; "
                f"set AIRFLOW_VAR_{key.upper()}, or compile with a control plane"
            )
            return fallback
        elif text is None:
            source = current.require_source(f"Variable.get({key!r})", f"Set AIRFLOW_VAR_{key.upper()}, {_INSTEAD}")
            text = source.get_variable(key)
            _check_asked(source, "variable", key, text)
        if text is None:
            if fallback is not NOTSET:
                return fallback
            raise VariableNotFound(f"Variable {key} does not exist")
        from .masks import is_sensitive_name, masks

        if is_sensitive_name(key):
            masks.add_variable(text)
        return json.loads(text) if deserialize_json else text

    @classmethod
    def keys(cls, prefix: str | None = None):
        raise RecordingError(
            "Variable.keys() is not supported: a task gets the variables that it asks for, and no list of them",
            "Use Variable.get() with known keys, keep the list in a variable, or ask GET /api/v2/variables of the REST API",
        )

    @classmethod
    def set(cls, key: str, value, description: str | None = None, serialize_json: bool = False) -> None:
        source = current.require_source(f"Variable.set({key!r})", "Call it inside a task")
        source.set_variable(key, json.dumps(value) if serialize_json else str(value), description)
        _warn_if_hidden(source, key)

    @classmethod
    def delete(cls, key: str) -> None:
        current.require_source(f"Variable.delete({key!r})", "Call it inside a task").delete_variable(key)


class UnreadableConnection(AirflowException):
    """Says what is wrong with a stored connection, and nothing of what is in it."""


_FIELDS = {"conn_type", "description", "host", "login", "password", "schema", "port", "extra", "uri"}


class Connection:
    EXTRA_KEY = "__extra__"

    def __init__(
        self,
        conn_id: str | None = None,
        conn_type: str | None = None,
        description: str | None = None,
        host: str | None = None,
        login: str | None = None,
        password: str | None = None,
        schema: str | None = None,
        port: int | None = None,
        extra=None,
        uri: str | None = None,
    ) -> None:
        self.conn_id = conn_id
        self.conn_type = conn_type
        self.description = description
        self.host = host
        self.login = login
        self.password = password
        self.schema = schema
        self.port = port
        self.extra = json.dumps(extra) if isinstance(extra, dict) else extra
        if uri:
            self._read_uri(uri)

    def _read_uri(self, uri: str) -> None:
        from urllib.parse import parse_qsl, unquote, urlsplit

        parts = urlsplit(uri)
        self.conn_type = parts.scheme.replace("-", "_")
        self.host = unquote(parts.hostname) if parts.hostname else None
        self.login = unquote(parts.username) if parts.username else None
        self.password = unquote(parts.password) if parts.password else None
        self.port = parts.port
        self.schema = unquote(parts.path[1:]) if len(parts.path) > 1 else None
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        if query:
            self.extra = query["__extra__"] if "__extra__" in query else json.dumps(query)

    @property
    def extra_dejson(self) -> dict:
        try:
            loaded = json.loads(self.extra) if self.extra else {}
        except ValueError:
            return {}
        return loaded if isinstance(loaded, dict) else {}

    def get_extra_dejson(self, nested: bool = False) -> dict:
        """With `nested`, texts in it that are JSON themselves are read as well."""
        found = self.extra_dejson
        for name, value in found.items() if nested else ():
            if isinstance(value, str):
                with contextlib.suppress(ValueError):
                    found[name] = json.loads(value)
        return found

    async def aextra_dejson(self) -> dict:
        return self.extra_dejson

    async def aget_uri(self) -> str:
        return self.get_uri()

    def get_password(self) -> str | None:
        return self.password

    def get_uri(self) -> str:
        from urllib.parse import parse_qsl, quote, urlencode

        login = quote(self.login or "", safe="")
        if self.password:
            login += ":" + quote(self.password, safe="")
        place = f"{login}@" if login else ""
        protocol, separator, host = (self.host or "").rpartition("://")
        place = f"{protocol}{separator}{place}{quote(host, safe='')}"
        if self.port:
            place += f":{self.port}"
        extra = self.extra_dejson
        query = urlencode(extra) if extra else ""
        # What a query cannot hold, such as numbers and nested objects, travels as JSON, as on Airflow.
        if self.extra and (not extra or dict(parse_qsl(query, keep_blank_values=True)) != extra):
            query = urlencode({self.EXTRA_KEY: self.extra})
        query = f"?{query}" if query else ""
        return f"{(self.conn_type or '').replace('_', '-')}://{place}/{quote(self.schema or '', safe='')}{query}"

    @classmethod
    def get(cls, conn_id: str) -> Connection:
        from .masks import masks

        connection = cls._find(conn_id)
        masks.add_connection(connection)
        return connection

    @classmethod
    def from_text(cls, conn_id: str | None, text: str) -> Connection:
        """A URI, or JSON with the fields of a connection. Errors name fields, never what is in them."""
        if not text.lstrip().startswith("{"):
            try:
                return cls(conn_id=conn_id, uri=text.strip())
            except ValueError:
                raise UnreadableConnection(f"what is stored as the connection {conn_id} is not a URI") from None
        try:
            fields = json.loads(text)
        except ValueError:
            raise UnreadableConnection(f"what is stored as the connection {conn_id} is not JSON") from None
        fields.pop("conn_id", None)
        unknown = fields.keys() - _FIELDS
        if unknown:
            raise UnreadableConnection(f"the connection {conn_id} has unknown fields: {', '.join(sorted(unknown))}")
        if isinstance(fields.get("port"), str):
            if not fields["port"].strip().isdigit():
                raise UnreadableConnection(f"the port of the connection {conn_id} is not a number")
            fields["port"] = int(fields["port"])
        if isinstance(fields.get("conn_type"), str):
            fields["conn_type"] = fields["conn_type"].replace("-", "_")
        return cls(conn_id=conn_id, **fields)

    @classmethod
    def from_json(cls, value: str, conn_id: str | None = None) -> Connection:
        return cls.from_text(conn_id, value)

    @classmethod
    def _find(cls, conn_id: str) -> Connection:
        running = current.secrets_source
        external = running.external_connection(conn_id) if running is not None else None
        if external is not None:
            return external
        text = os.environ.get(f"AIRFLOW_CONN_{conn_id.upper()}")
        if text is not None:
            return cls.from_text(conn_id, text)
        if running is None and record_current.values is not None:
            text = record_current.values.get("connection", conn_id)
            found = None if text is None else cls.from_text(conn_id, text)
        else:
            source = current.require_source(
                f"connection {conn_id!r}", f"Set AIRFLOW_CONN_{conn_id.upper()}, {_INSTEAD}"
            )
            found = source.get_connection(conn_id)
            _check_asked(source, "connection", conn_id, found)
        if found is None:
            raise AirflowNotFoundException(f"The conn_id `{conn_id}` isn't defined")
        return found

    @classmethod
    def get_connection_from_secrets(cls, conn_id: str) -> Connection:
        return cls.get(conn_id)

    @classmethod
    async def async_get(cls, conn_id: str) -> Connection:
        """For triggers and other coroutines: asking may take a moment, and others go on meanwhile."""
        import asyncio

        return await asyncio.to_thread(cls.get, conn_id)

    @classmethod
    def from_uri(cls, uri: str, conn_id: str | None = None) -> Connection:
        return cls(conn_id=conn_id, uri=uri)

    def to_dict(self, *, prune_empty: bool = False, validate: bool = True) -> dict:
        names = ("conn_id", "conn_type", "description", "host", "login", "password", "schema", "port")
        found = {**{name: getattr(self, name) for name in names}, "extra": self.extra_dejson}
        return {name: value for name, value in found.items() if not prune_empty or value not in (None, "", {})}

    def as_json(self) -> str:
        found = self.to_dict(prune_empty=True, validate=False)
        found.pop("conn_id", None)
        return json.dumps(found)

    def get_hook(self, *, hook_params: dict | None = None):
        """The hook that an installed provider declares for the connection's type."""
        from .providers_manager import ProvidersManager

        info = ProvidersManager().hooks.get(self.conn_type)
        if info is None:
            raise AirflowException(
                f"no installed provider declares a hook for the connection type '{self.conn_type}'; install the one "
                f"that does, or construct the hook class with its connection id '{self.conn_id}'"
            )
        from .helpers import import_string

        hook_class = import_string(info.hook_class_name)
        return hook_class(**{info.connection_id_attribute_name: self.conn_id}, **(hook_params or {}))

    def test_connection(self) -> tuple[bool, str]:
        try:
            hook = self.get_hook()
            if not hasattr(hook, "test_connection"):
                return False, f"Hook {type(hook).__name__} doesn't implement or inherit test_connection method"
            return hook.test_connection()
        except Exception as error:
            return False, str(error)

    def __repr__(self) -> str:
        return self.conn_id or ""
