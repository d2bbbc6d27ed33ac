"""Compile: execute one DAG file, turn what it recorded into canonical JSON."""

import os

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def own_folders() -> list:
    """The packages of svc: all that a compile does is in them."""
    return [os.path.join(_ROOT, name) for name in ("svc_runtime", "airflow", "cosmos", "svc")]
