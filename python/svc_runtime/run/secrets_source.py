"""Variables and connections that did not come with the job's environment: asked for one by one."""

from __future__ import annotations

from .channel import RequestFailed
from .secrets import Connection


class AgentSecrets:
    def __init__(self, channel) -> None:
        self._channel = channel

    def _ask(self, method: str, **params):
        """None when there is no such thing; a refusal is an error the author must see."""
        try:
            return self._channel.request(method, **params)
        except RequestFailed as failure:
            if failure.code == "not_found":
                return None
            raise

    def get_variable(self, key: str) -> str | None:
        found = self._ask("get_variable", key=key)
        return found.get("value") if isinstance(found, dict) else found

    def set_variable(self, key: str, value: str, description: str | None) -> None:
        self._channel.request("set_variable", key=key, value=value, description=description)

    def delete_variable(self, key: str) -> None:
        self._ask("delete_variable", key=key)

    def get_connection(self, conn_id: str) -> Connection | None:
        found = self._ask("get_connection", id=conn_id)
        if found is None:
            return None
        if isinstance(found, str):
            return Connection(conn_id=conn_id, uri=found)
        names = ("conn_type", "description", "host", "login", "password", "schema", "port", "extra")
        return Connection(conn_id=conn_id, **{name: found.get(name) for name in names})
