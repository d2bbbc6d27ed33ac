"""What the fork server loads before the first fork, so that no child pays for it.

Everything here costs memory that all children share. asyncio (about 30 ms and 4 MB) is loaded only for files that
will use it.
"""

from __future__ import annotations

import importlib

_MODULES = (
    "airflow.sdk",
    "jinja2",
    "jinja2.nativetypes",
    "jinja2.sandbox",
    "jinja2.ext",
    "pendulum",
    "pendulum.tz",
    "zoneinfo",
    "logging",
    "subprocess",
    "socket",
    "traceback",
    "svc_runtime.run.child",
    "svc_runtime.run.attempt",
    "svc_runtime.run.environment",
    "svc_runtime.run.commands",
    "svc_runtime.run.callables",
    "svc_runtime.run.macros",
    "svc_runtime.run.templating",
    "svc_runtime.run.secrets",
    "svc_runtime.run.deferral",
    "svc_runtime.run.trigger_run",
)


def preload(source: str) -> None:
    for name in _MODULES:
        importlib.import_module(name)
    if "async " in source or "deferrable" in source or "Async" in source:
        importlib.import_module("asyncio")
