"""Tasks with a known end, for the DAGs of this folder."""
from airflow.exceptions import AirflowFailException, AirflowSkipException
from airflow.providers.standard.operators.python import PythonOperator


def _ok():
    return "done"


def _fail():
    raise ValueError("as planned")


def _fail_for_good():
    raise AirflowFailException("as planned, and trying again is no use")


def _skip():
    raise AirflowSkipException("as planned")


def ok(task_id, **kwargs):
    return PythonOperator(task_id=task_id, python_callable=_ok, **kwargs)


def fail(task_id, **kwargs):
    return PythonOperator(task_id=task_id, python_callable=_fail, **kwargs)


def fail_for_good(task_id, **kwargs):
    return PythonOperator(task_id=task_id, python_callable=_fail_for_good, **kwargs)


def skip(task_id, **kwargs):
    return PythonOperator(task_id=task_id, python_callable=_skip, **kwargs)
