"""`executor.http_user_agent` as the default of the HTTP hook: of HttpHook, HttpOperator and HttpSensor, which all use it.

A connection or a task that names another User-Agent wins, as over the client library's own default.
"""

from __future__ import annotations

import os

VARIABLE = "SVC_HTTP_USER_AGENT"


def use_in(module) -> None:
    """`module`: that of the hook, just loaded. It makes its sessions by this name."""
    agent = os.environ.get(VARIABLE)
    session = getattr(module, "Session", None)
    if not agent or session is None:
        return

    def init(self, *args, **kwargs) -> None:
        session.__init__(self, *args, **kwargs)
        self.headers["User-Agent"] = agent

    module.Session = type("Session", (session,), {"__init__": init})
