"""Where a task's variables and connections come from, beside its environment: the operator's secrets backend, asked
first, and the control plane, asked last for what did not come with the job.
"""

from __future__ import annotations

from .channel import RequestFailed
from .external_secrets import external_secrets
from .masks import masks, secrets_of_connection, secrets_of_variable, texts_in
from .secrets import Connection


class ExternalSource:
    """The secrets backend alone: for what runs without a job, such as the test of a connection."""

    def __init__(self) -> None:
        self._external = external_secrets()
        self._masked: set = set()
        if self._external is not None:
            masks.add(self._external.hidden())  # the agent knows them itself

    def _may_ask(self, kind: str, name: str) -> bool:
        return True

    def mask(self, secrets) -> None:
        masks.add(secrets)

    def external_variable(self, key: str) -> str | None:
        if self._external is None or not self._may_ask("variable", key):
            return None
        found = self._external.get_variable(key)
        if found is not None:
            self._mask_once("variable", key, secrets_of_variable(found))
        return found

    def external_connection(self, conn_id: str) -> Connection | None:
        if self._external is None or not self._may_ask("connection", conn_id):
            return None
        found = self._external.get_connection(conn_id)
        if found is not None:
            self._mask_once("connection", conn_id, secrets_of_connection(found))
        return found

    def external_failure(self, kind: str, name: str) -> str | None:
        """Why the backend could not say whether it has it; None when it could."""
        return self._external.failure(kind, name) if self._external is not None else None

    def _mask_once(self, kind: str, name: str, secrets: list) -> None:
        """Before anybody is given the value."""
        if (kind, name) not in self._masked:
            self.mask(secrets)
            self._masked.add((kind, name))

    def get_variable(self, key: str) -> str | None:
        return None

    def get_connection(self, conn_id: str) -> Connection | None:
        return None


class AgentSecrets(ExternalSource):
    def __init__(self, channel, job: dict) -> None:
        self._channel = channel
        # Under `enforce`: what the DAG declares. What it does not is left to the control plane, which says why not.
        self._declared: dict | None = (job.get("secrets") or {}).get("declared")
        # A file is loaded as it was compiled: the operator's secrets backend is not asked.
        self.is_loading = False
        super().__init__()

    def _may_ask(self, kind: str, name: str) -> bool:
        return not self.is_loading and (self._declared is None or name in self._declared[f"{kind}s"])

    def mask(self, secrets) -> None:
        """Told to the agent as well, and acknowledged: it masks what programs print."""
        super().mask(secrets)
        values = texts_in(secrets)
        if values and self._channel.is_ours:
            self._channel.request("add_masks", values=values)

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
