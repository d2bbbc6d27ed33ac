"""Variables and connections of a control plane, for a try that runs again: those that no file of this machine has."""

from __future__ import annotations

from ..dag_test.secret_files import connection_of
from ..run.channel import RequestFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..dag_test.local_channel import LocalSecrets


def production_answers(secrets: LocalSecrets, ask: Callable[[str, str], str | None]) -> dict[str, Callable]:
    """Each name is asked for once."""

    def connection(_channel, id: str):
        if id not in secrets.connections:
            text = _found("connection", id)
            secrets.connections[id] = connection_of("the control plane", id, text)
        return secrets.connections[id]

    def variable(_channel, key: str):
        if key not in secrets.variables:
            secrets.variables[key] = _found("variable", key)
        return secrets.variables[key]

    def _found(kind: str, name: str) -> str:
        text = ask(kind, name)
        if text is None:
            raise RequestFailed(f"no {kind} {name}", "not_found")
        return text

    return {"get_connection": connection, "get_variable": variable}
