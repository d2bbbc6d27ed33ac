"""`python -m svc_runtime.test_connection`: started by the agent with a connection on its input, says whether it works.

The answer is one line of JSON on what was standard output when it began; what hooks print goes to standard error.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import os
import signal
import sys
from importlib.metadata import entry_points

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CONN_ID = "svc_connection_test"


def test(connection: dict, hook: str | None, provider: str | None) -> tuple:
    """Whether it works, and what the hook says."""
    import airflow  # noqa: F401  installs the import paths

    from .import_paths import prefer_installed_providers
    from .run import current

    prefer_installed_providers()
    conn_type = connection["conn_type"]
    path = _hook_of(conn_type) or hook
    if path is None:
        return False, f"no installed provider knows the connection type {conn_type!r}; {_remedy(provider)}"
    module, _, name = path.rpartition(".")
    try:
        hook_class = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        return False, f"the hook {path} cannot be loaded ({error}); {_remedy(provider)}"
    if not callable(getattr(hook_class, "test_connection", None)):
        return False, f"the hook {path} cannot test connections: use the connection in a task"
    os.environ[f"AIRFLOW_CONN_{_CONN_ID.upper()}"] = json.dumps(connection)
    # A hook may need other connections (a tunnel, a role): those come from where tasks have them.
    current.secrets_source = _other_connections()
    argument = getattr(hook_class, "conn_name_attr", None) or _first_argument(hook_class)
    status, message = hook_class(**{argument: _CONN_ID}).test_connection()
    return bool(status), str(message)


def _other_connections():
    from .run.secrets_source import ExternalSource

    class OtherConnections(ExternalSource):
        def _may_ask(self, kind: str, name: str) -> bool:
            return name != _CONN_ID

    return OtherConnections()


def _remedy(provider: str | None) -> str:
    package = provider or "its provider package"
    return f"add {package} to the dependencies in the svc.yaml of a DAG project and deploy it"


def _hook_of(conn_type: str) -> str | None:
    """As the provider packages in this environment declare it."""
    for point in entry_points(group="apache_airflow_provider"):
        with contextlib.suppress(Exception):  # a broken provider is not the one that is asked for
            for entry in point.load()().get("connection-types", ()):
                if entry["connection-type"] == conn_type:
                    return entry["hook-class-name"]
    return None


def _first_argument(hook_class: Any) -> str:
    names = [name for name in inspect.signature(hook_class).parameters if name.endswith("conn_id")]
    return names[0] if names else "conn_id"


def main() -> None:
    from .run.kernel import die_with_parent

    die_with_parent(signal.SIGKILL)
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    job = json.load(sys.stdin)
    try:
        status, message = test(job["connection"], job["hook"], job["provider"])
    except BaseException as error:  # whatever a hook raises is the answer
        status, message = False, f"{type(error).__name__}: {error}"
    answer.write(json.dumps({"status": status, "message": message}))
    answer.close()


if __name__ == "__main__":
    main()
