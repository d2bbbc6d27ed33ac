"""Says so when a real Airflow is installed over ours: both are the package `airflow`, and each replaces files of the other."""

from __future__ import annotations

import os

_HERE = os.path.dirname(os.path.abspath(__file__))
# Only the wheel has it. Elsewhere ours is in front of the packages of an environment, and may stand beside an Airflow.
_OF_WHEEL = os.path.join(_HERE, "dag_test", "engine.mjs")
_AIRFLOWS = ("apache_airflow-", "apache_airflow_core-", "apache_airflow_task_sdk-")


def check() -> None:
    if not os.path.exists(_OF_WHEEL):
        return
    folder = os.path.dirname(_HERE)
    found = sorted(name for name in os.listdir(folder) if name.startswith(_AIRFLOWS) and name.endswith(".dist-info"))
    if found:
        names = ", ".join(name.removesuffix(".dist-info") for name in found)
        raise ImportError(
            f"svc-airflow and a real Airflow ({names}) are installed in {folder}: both are the package `airflow`. "
            "Use an environment of its own for each, or remove Airflow and install again: "
            "pip uninstall apache-airflow apache-airflow-core apache-airflow-task-sdk; "
            "pip install --force-reinstall --no-deps svc-airflow"
        )
