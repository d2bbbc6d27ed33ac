"""PackageIndexHook: the URL of a package index, with credentials from its connection."""

from __future__ import annotations

from urllib.parse import quote, unquote, urlsplit, urlunsplit

from svc_runtime.run.hooks import BaseHook


class PackageIndexHook(BaseHook):
    conn_name_attr = "pi_conn_id"
    default_conn_name = "package_index_default"
    conn_type = "package_index"
    hook_name = "Package Index (Python)"

    def __init__(self, pi_conn_id: str = default_conn_name, **kwargs) -> None:
        super().__init__(**kwargs)
        self.pi_conn_id = pi_conn_id

    def test_connection(self) -> tuple:
        import base64
        from urllib.error import URLError
        from urllib.request import Request, urlopen

        try:
            parts = urlsplit(self.get_connection_url())
            login, _, host = parts.netloc.rpartition("@")
            request = Request(urlunsplit(parts._replace(netloc=host)))
            if login:
                plain = unquote(login) if ":" in login else f"{unquote(login)}:"
                request.add_header("Authorization", f"Basic {base64.b64encode(plain.encode()).decode()}")
            with urlopen(request, timeout=10) as answer:
                return True, f"the index answers with status {answer.status}"
        except (URLError, OSError, ValueError) as error:
            return False, str(error)

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
