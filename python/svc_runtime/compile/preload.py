"""What the long-lived server loads before the first fork, so that children share it."""

from __future__ import annotations

import gc
import importlib
import os
import sys

# What every file needs. Loaded before the fork even for a single file, so that the bytecode is kept.
_CORE = (
    "airflow.sdk",
    "svc_runtime.record.provider_stubs",
    "svc_runtime.decorators.task",
    "svc_runtime.decorators.asset",
    "svc_runtime.compile.load",
    "svc_runtime.compile.dag_spec",
    "airflow.providers.standard.operators.bash",
    "airflow.providers.standard.operators.python",
    "airflow.providers.standard.operators.empty",
    "airflow.providers.standard.decorators.python",
    "resource",
    "hashlib",
)
# What many files need; worth its time only in a process that lives on.
_COMMON = (
    "pendulum",
    "pendulum.tz",
    "dateutil.relativedelta",
    "zoneinfo",
    "logging",
    "asyncio",
    "dataclasses",
    "encodings.utf_8_sig",  # of every source file
    "svc_runtime.run.conf",
    "svc_runtime.run.timezone",
    "svc_runtime.record.edges",
    "svc_runtime.record.built_in_timetables.cron_expression",
    "svc_runtime.decorators.asset_operator",
    "svc_runtime.decorators.setup_teardown",
    "svc_runtime.decorators.task_group",
    "airflow.providers.standard.sensors.python",
    "airflow.providers.standard.sensors.external_task",
    "airflow.providers.standard.sensors.filesystem",
    "airflow.providers.standard.operators.trigger_dagrun",
    "airflow.providers.standard.operators.latest_only",
    "airflow.providers.standard.operators.weekday",
    "airflow.providers.standard.decorators.bash",
    "airflow.providers.standard.decorators.branch_python",
    "airflow.providers.standard.decorators.short_circuit",
    "airflow.providers.standard.decorators.sensor",
)


def preload(everything: bool = True) -> None:
    for name in (*_CORE, *_COMMON) if everything else _CORE:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # pendulum may be absent in a bare environment; files that need it will say so
    if everything:
        _prepare()
    # Objects alive now never die: keep the collector from touching (and copying) their pages in every child.
    gc.collect()
    gc.freeze()


def _prepare() -> None:
    """What is computed once and kept: regular expressions, and which folders of packages have plugins. A child that computes
    it keeps nothing, and would do so for every file: 5 of 22 ms (`npm run bench -- compile`)."""
    from ..plugins.loader import may_offer_plugins
    from ..record.built_in_timetables.cron_expression import check_cron
    from .load import module_name

    check_cron("1-9/2,11 3 1 jan mon")
    module_name("a file.py")
    for folder in sys.path:
        may_offer_plugins(folder)


def look_at_path(request: dict) -> None:
    """Before the fork: which packages the folders of a request hold, so that not each of its files lists thousands of others."""
    from ..plugins.loader import may_offer_plugins

    root = request.get("dags_folder")
    bundle = request.get("bundle") or {}
    if not isinstance(root, str) or not isinstance(bundle, dict):
        return
    for name in (".", *(name for name in bundle.get("import_roots") or () if "=" not in name)):
        may_offer_plugins(os.path.normpath(os.path.join(root, name)))
