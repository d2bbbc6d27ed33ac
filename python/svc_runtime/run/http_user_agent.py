"""`executor.http_user_agent` as the default of the HTTP hook: of HttpHook, HttpOperator and HttpSensor, which all use it, and of
HttpAsyncHook, which their deferrable forms use.

A connection or a task that names another User-Agent wins, as over the client library's own default.
"""

from __future__ import annotations

import os
from types import ModuleType

VARIABLE = "SVC_HTTP_USER_AGENT"


def use_in(module) -> None:
    """`module`: that of the hook, just loaded. It makes its sessions by this name."""
    agent = os.environ.get(VARIABLE)
    if not agent:
        return
    if hasattr(module, "Session"):
        module.Session = _session_with(agent, module.Session)
    if hasattr(module, "aiohttp"):
        module.aiohttp = _aiohttp_with(agent, module.aiohttp)


def _session_with(agent: str, session: type) -> type:
    def init(self, *args, **kwargs) -> None:
        session.__init__(self, *args, **kwargs)  # type: ignore[misc]
        self.headers["User-Agent"] = agent

    return type("Session", (session,), {"__init__": init})


def _aiohttp_with(agent: str, library) -> ModuleType:
    """The library as this module sees it; its session is not meant to be derived from."""

    def session(*args, headers=None, **kwargs):
        return library.ClientSession(*args, headers={"User-Agent": agent, **(headers or {})}, **kwargs)

    seen = ModuleType(library.__name__)
    seen.__dict__.update(vars(library), ClientSession=session)
    return seen
