"""AIRFLOW_CTX_* variables that commands started by a task expect."""

from __future__ import annotations


def context_variables(context) -> dict:
    run = context.get("dag_run")
    ti = context.get("ti")
    dag = context.get("dag")
    values = {
        "AIRFLOW_CTX_DAG_ID": getattr(ti, "dag_id", None),
        "AIRFLOW_CTX_TASK_ID": getattr(ti, "task_id", None),
        "AIRFLOW_CTX_TRY_NUMBER": getattr(ti, "try_number", None),
        "AIRFLOW_CTX_DAG_RUN_ID": getattr(run, "run_id", None),
        "AIRFLOW_CTX_LOGICAL_DATE": _iso(getattr(run, "logical_date", None)),
        "AIRFLOW_CTX_DAG_OWNER": getattr(dag, "owner", None),
    }
    return {name: str(value) for name, value in values.items() if value is not None}


def _iso(value):
    return value.isoformat() if value is not None else None
