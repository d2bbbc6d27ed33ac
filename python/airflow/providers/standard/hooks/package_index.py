"""PackageIndexHook: the URL of a package index, with credentials from its connection."""

from __future__ import annotations

from urllib.parse import quote, urlsplit, urlunsplit

from svc_runtime.run.hooks import BaseHook


class PackageIndexHook(BaseHook):
    conn_name_attr = "pi_conn_id"
    default_conn_name = "package_index_default"
    conn_type = "package_index"
    hook_name = "Package Index (Python)"

    def __init__(self, pi_conn_id: str = default_conn_name, **kwargs) -> None:
        super().__init__(**kwargs)
        self.pi_conn_id = pi_conn_id

    def get_connection_url(self) -> str:
        connection = self.get_connection(self.pi_conn_id)
        if not connection.host:
            raise ValueError(f"connection '{self.pi_conn_id}' has no host; set it to the index URL")
        parts = urlsplit(connection.host)
        if not connection.login:
            return connection.host
        login = quote(connection.login, safe="")
        if connection.password:
            login += ":" + quote(connection.password, safe="")
        return urlunsplit(parts._replace(netloc=f"{login}@{parts.netloc}"))
