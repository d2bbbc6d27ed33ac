"""Variable and Connection as authors use them.

While a file is compiled only `AIRFLOW_VAR_<KEY>` / `AIRFLOW_CONN_<ID>` from the environment and a given default
answer; anything else is a compile error that says what to write instead, because a value frozen into an
immutable artifact would silently go stale.
"""

from __future__ import annotations

import json
import os
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from ..exceptions import AirflowException, AirflowNotFoundException
from ..record import current as record_current
from ..record.notset import NOTSET
from . import current


class Variable:
    def __init__(self, key: str, value=None, description: str | None = None) -> None:
        self.key = key
        self.value = value
        self.description = description

    @classmethod
    def get(cls, key: str, default=NOTSET, deserialize_json: bool = False, *, default_var=NOTSET):
        fallback = default if default is not NOTSET else default_var
        text = os.environ.get(f"AIRFLOW_VAR_{key.upper()}")
        if text is None and current.secrets_source is None and fallback is not NOTSET:
            record_current.warn(
                f"Variable.get({key!r}) is called while the file is compiled and yields its default; "
                f"use {{{{ var.value.{key} }}}} in a template or call it inside a task"
            )
            return fallback
        if text is None:
            source = current.require_source(
                f"Variable.get({key!r})",
                f"Use the template {{{{ var.value.{key} }}}}, call it inside a task, or give a default",
            )
            text = source.get_variable(key)
        if text is None:
            if fallback is not NOTSET:
                return fallback
            raise AirflowNotFoundException(f"Variable {key} does not exist")
        from .masks import is_sensitive_name, masks

        if is_sensitive_name(key):
            masks.add_variable(text)
        return json.loads(text) if deserialize_json else text

    @classmethod
    def set(cls, key: str, value, description: str | None = None, serialize_json: bool = False) -> None:
        source = current.require_source(f"Variable.set({key!r})", "Call it inside a task")
        source.set_variable(key, json.dumps(value) if serialize_json else str(value), description)

    @classmethod
    def delete(cls, key: str) -> None:
        current.require_source(f"Variable.delete({key!r})", "Call it inside a task").delete_variable(key)


class Connection:
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
        return self.extra_dejson

    def get_password(self) -> str | None:
        return self.password

    def get_uri(self) -> str:
        login = quote(self.login or "", safe="")
        if self.password:
            login += ":" + quote(self.password, safe="")
        place = f"{login}@" if login else ""
        place += quote(self.host or "", safe="")
        if self.port:
            place += f":{self.port}"
        query = f"?{urlencode(self.extra_dejson)}" if self.extra_dejson else ""
        return f"{(self.conn_type or '').replace('_', '-')}://{place}/{quote(self.schema or '', safe='')}{query}"

    @classmethod
    def get(cls, conn_id: str) -> Connection:
        from .masks import masks

        connection = cls._find(conn_id)
        masks.add_connection(connection)
        return connection

    @classmethod
    def _find(cls, conn_id: str) -> Connection:
        text = os.environ.get(f"AIRFLOW_CONN_{conn_id.upper()}")
        if text is not None:
            if text.lstrip().startswith("{"):
                fields = json.loads(text)
                fields.pop("conn_id", None)
                return cls(conn_id=conn_id, **fields)
            return cls(conn_id=conn_id, uri=text)
        source = current.require_source(
            f"connection {conn_id!r}", "Open connections inside a task, or pass the connection id to the operator"
        )
        found = source.get_connection(conn_id)
        if found is None:
            raise AirflowNotFoundException(f"The conn_id `{conn_id}` isn't defined")
        return found

    @classmethod
    def get_connection_from_secrets(cls, conn_id: str) -> Connection:
        return cls.get(conn_id)

    def get_hook(self, *, hook_params: dict | None = None):
        raise AirflowException(
            f"no hook is registered for connection type '{self.conn_type}'; construct the provider's hook class "
            f"with its connection id '{self.conn_id}' instead"
        )

    def __repr__(self) -> str:
        return self.conn_id or ""
