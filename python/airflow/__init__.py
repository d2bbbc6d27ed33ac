"""A light stand-in for Airflow's authoring interface.

DAG files import it unmodified. Almost every path under `airflow.` is served by the table in
svc_runtime/import_paths.py; only the standard operators are real files here, so that their class
paths are the ones Airflow users know. Importing this package must stay cheap: names load on first use.
"""

from __future__ import annotations

from svc_runtime import import_paths as _import_paths
from svc_runtime import one_airflow as _one_airflow

__version__ = "3.2.2"

_one_airflow.check()
_import_paths.install()


def __getattr__(name: str):
    return _import_paths.attribute("airflow", name)
