"""`airflow.secrets`: the base class of secrets backends, as provider packages subclass it.

A backend says what it stores as text, a URI or JSON for connections; the base makes objects of it. Which backend is used,
and when, is external_secrets.py.
"""

from __future__ import annotations

from .secrets import Connection


class BaseSecretsBackend:
    def __init__(self, **kwargs) -> None:
        pass

    @staticmethod
    def build_path(path_prefix: str, secret_id: str, sep: str = "/") -> str:
        return f"{path_prefix}{sep}{secret_id}"

    def get_conn_value(self, conn_id: str, team_name: str | None = None) -> str | None:
        raise NotImplementedError

    def deserialize_connection(self, conn_id: str, value: str) -> Connection:
        return Connection.from_text(conn_id, value)

    def get_connection(self, conn_id: str, team_name: str | None = None) -> Connection | None:
        value = self.get_conn_value(conn_id=conn_id)
        return None if value is None else self.deserialize_connection(conn_id=conn_id, value=value)

    def get_variable(self, key: str, team_name: str | None = None) -> str | None:
        raise NotImplementedError

    def get_config(self, key: str) -> str | None:
        return None
