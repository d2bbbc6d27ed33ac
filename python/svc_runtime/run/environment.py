"""AIRFLOW_CTX_* variables: in the environment of the process of a task, and of the commands that it starts."""

from __future__ import annotations

import os

from ..record.timezones import parse_iso, to_utc

_NAMES = tuple(
    f"AIRFLOW_CTX_{name}" for name in "DAG_EMAIL DAG_OWNER DAG_ID TASK_ID LOGICAL_DATE TRY_NUMBER DAG_RUN_ID".split()
)


def context_variables(context) -> dict[str, str]:
    run = context.get("dag_run")
    ti = context.get("ti")
    task = context.get("task")
    email = getattr(task, "email", None)
    values = (
        email if email is None or isinstance(email, str) else ",".join(email),
        getattr(task, "owner", None),
        getattr(ti, "dag_id", None),
        getattr(ti, "task_id", None),
        _logical_date(run),
        getattr(ti, "try_number", None),
        getattr(run, "run_id", None),
    )
    return {name: str(value) for name, value in zip(_NAMES, values, strict=True) if value is not None}


def enter_context(context) -> None:
    """As on Airflow. A process that runs several tasks keeps nothing of the one before."""
    for name in _NAMES:
        os.environ.pop(name, None)
    os.environ.update(context_variables(context))


def _logical_date(run) -> str | None:
    """Of its text, where it has one: most tasks need no pendulum."""
    texts = getattr(run, "svc_texts", None)
    value = getattr(run, "logical_date", None) if texts is None else texts.get("logical_date")
    if value is None:
        return None
    return to_utc(parse_iso(value) if isinstance(value, str) else value).isoformat()
