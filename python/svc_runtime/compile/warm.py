"""What the long-lived server loads before the first fork, so that children share it."""

from __future__ import annotations

import gc
import importlib

_MODULES = (
    "airflow.sdk",
    "svc_runtime.record.provider_stubs",
    "svc_runtime.record.task_collection",
    "svc_runtime.record.asset_decorator",
    "svc_runtime.compile.load",
    "svc_runtime.compile.dag_spec",
    "airflow.providers.standard.operators.bash",
    "airflow.providers.standard.operators.python",
    "airflow.providers.standard.operators.empty",
    "airflow.providers.standard.decorators.python",
    "airflow.providers.standard.sensors.python",
    "pendulum",
    "datetime",
    "logging",
    "resource",
    "hashlib",
    "dateutil.relativedelta",
)


def preload() -> None:
    for name in _MODULES:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # pendulum may be absent in a bare environment; files that need it will say so
    # Objects alive now never die: keep the collector from touching (and copying) their pages in every child.
    gc.collect()
    gc.freeze()
