"""Connections and variables from the operator's secrets backend: any provider class, named by `secrets.backend`.

    lookup ─▶ this kind served? declared (under enforce)? ─▶ remembered? ─▶ the class, made once ─▶ masked ─▶ the author
                        └─ no ─────────────────────────────────┴─ nothing there, or it failed ─▶ environment, built-in vault

Settings are read when the process starts, before any line of the author's, so nothing an author sets reaches them. What
was asked is remembered for the attempt, misses too. A class that cannot be loaded or made is an error of whoever asks; a
store that fails is warned about, and the vault is asked instead, as Airflow does. No text of ours has a value in it.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import re
import threading

from ..exceptions import AirflowConfigException
from .logs import say
from .masks import is_sensitive_name, masks, texts_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .secrets import Connection

BACKEND = "SVC_SECRETS_BACKEND"
KWARGS = "SVC_SECRETS_BACKEND_KWARGS"

# A kind is served when one of these is among the arguments. HashiCorp's class calls its prefixes paths.
SERVED_BY = {
    "connection": ("connections_prefix", "connections_path"),
    "variable": ("variables_prefix", "variables_path"),
}
# Parts of these say only who a provider belongs to, so that the package has one more part in its name.
_FAMILIES = {"apache", "atlassian", "cncf", "common", "dbt", "microsoft"}
# What these libraries raise says what went wrong with the store; other errors may quote what was stored.
_TELLING = {"azure", "boto3", "botocore", "google", "grpc", "hvac", "requests", "urllib3"}
_ABOUT_ARGUMENTS = re.compile(r"unexpected keyword argument '\w+'|missing \d+ required [\w -]*arguments?: [\w', ]+")


class ExternalSecrets:
    def __init__(self, backend: str, kwargs: str) -> None:
        self.backend = backend
        self._kwargs = kwargs
        self._instance: Any = None
        self._known: dict[tuple, Any] = {}
        self._failures: dict[tuple, str] = {}
        # One thread at a time; and a backend that looks up a connection itself is not asked for it.
        self._lock = threading.RLock()
        self._is_asking = False
        # Checked by the control plane when it started.
        self.arguments: dict = json.loads(kwargs or "{}")

    def hidden(self) -> list:
        """The arguments as they came, and the credentials among them."""
        return [self._kwargs, *_credentials(self.arguments)]

    def serves(self, kind: str) -> bool:
        return any(self.arguments.get(name) is not None for name in SERVED_BY[kind])

    def get_connection(self, conn_id: str) -> Connection | None:
        return self._get("connection", conn_id, self._ask_for_connection)

    def get_variable(self, key: str) -> str | None:
        return self._get("variable", key, self._ask_for_variable)

    def failure(self, kind: str, name: str) -> str | None:
        """Why the store could not say whether it has it."""
        return self._failures.get((kind, name))

    def _get(self, kind: str, name: str, ask: Callable):
        if not self.serves(kind):
            return None
        with self._lock:
            if self._is_asking:
                return None
            if (kind, name) not in self._known:
                self._known[kind, name] = self._ask(kind, name, ask)
            return self._known[kind, name]

    def _ask(self, kind: str, name: str, ask: Callable):
        self._is_asking = True
        # Nothing is masked before it is known, and clients write whole answers into their debug logs.
        quiet = logging.root.manager.disable
        logging.disable(max(quiet, logging.DEBUG))
        try:
            if self._instance is None:
                self._instance = self._make()
            return ask(name)
        except AirflowConfigException:
            raise
        except Exception as error:
            self._failures[kind, name] = f"the secrets backend {self.backend} failed ({reason(error)})"
            say(
                f"{self._failures[kind, name]} when it was asked for the {kind} {name}: the built-in vault is asked instead",
                level=logging.WARNING,
            )
            return None
        finally:
            logging.disable(quiet)
            self._is_asking = False

    def _ask_for_connection(self, conn_id: str) -> Connection | None:
        from .secrets import Connection

        ask = getattr(self._instance, "get_connection", None)
        if ask is not None:
            found = ask(conn_id)
        else:
            text = self._instance.get_conn_value(conn_id)
            found = None if text is None else Connection.from_text(conn_id, text)
        if found is not None and not isinstance(found, Connection):
            raise TypeError(f"it answered with a {type(found).__name__}")
        return found

    def _ask_for_variable(self, key: str) -> str | None:
        found = self._instance.get_variable(key)
        return found if found is None or isinstance(found, str) else json.dumps(found)

    def _make(self):
        module, _, name = self.backend.rpartition(".")
        try:
            backend = getattr(importlib.import_module(module), name)
        except Exception as error:  # a module may raise anything while it is loaded
            raise AirflowConfigException(
                f"secrets.backend {self.backend} cannot be loaded ({type(error).__name__}: {masks.apply(str(error))}): "
                f"add {package_of(self.backend)} to the dependencies in svc.yaml, or to the image that the tasks run in"
            ) from None
        try:
            return backend(**self.arguments)
        except Exception as error:
            raise AirflowConfigException(
                f"the secrets backend {self.backend} cannot be made ({reason(error)}): the operator has to correct "
                "secrets.backend_kwargs, or what they refer to"
            ) from None


def reason(error: BaseException) -> str:
    """What went wrong, in the error's own words where those cannot hold what was stored."""
    kind = type(error)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    from .secrets import UnreadableConnection

    if (
        isinstance(error, (OSError, NotImplementedError, UnreadableConnection))
        or kind.__module__.split(".")[0] in _TELLING
    ):
        text = " ".join(masks.apply(str(error)).split())[:500]
        return f"{name}: {text}" if text else name
    if isinstance(error, TypeError):
        found = _ABOUT_ARGUMENTS.search(str(error))
        return f"{name}: {found.group()}" if found else name
    return name


def package_of(path: str) -> str:
    parts = path.split(".")
    if parts[:2] != ["airflow", "providers"] or len(parts) < 4:
        return f"the package with the module {parts[0]}"
    count = 2 if parts[2] in _FAMILIES else 1
    return "-".join(["apache-airflow-providers", *parts[2 : 2 + count]])


def _credentials(value) -> list:
    """What stands under sensitive names, wherever it is."""
    if isinstance(value, list):
        return [text for item in value for text in _credentials(item)]
    if not isinstance(value, dict):
        return []
    return [
        text
        for name, item in value.items()
        for text in (texts_in(item) if is_sensitive_name(name) else _credentials(item))
    ]


# Of this process, taken before the DAG file is loaded.
_settings = (os.environ.get(BACKEND, ""), os.environ.get(KWARGS, ""))


def external_secrets() -> ExternalSecrets | None:
    """For one attempt; None when the operator has set no backend."""
    backend, kwargs = _settings
    return ExternalSecrets(backend, kwargs) if backend else None
