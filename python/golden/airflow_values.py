"""`airflow_values.py`, run by the Python of a real Airflow 3.2: passes each value of tests/value_types.py from one task to
another with `dag.test()`, and writes what arrived to `tests/airflow_values.json`.

    AIRFLOW_HOME=$(mktemp -d) <python> golden/airflow_values.py

The environment needs apache-airflow, pandas, pyarrow, polars, numpy, pydantic and attrs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

os.environ["AIRFLOW__CORE__ALLOWED_DESERIALIZATION_CLASSES"] = "airflow.* value_types.*"
os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"
TESTS, ANSWER = "SVC_TESTS", "SVC_ANSWER"

FOUND: dict = {}


def go_where_airflow_looks() -> None:
    """`dag.test()` takes a DAG only from its folder of DAGs."""
    here = os.path.abspath(__file__)
    there = os.path.join(os.environ["AIRFLOW_HOME"], "dags", os.path.basename(here))
    os.makedirs(os.path.dirname(there), exist_ok=True)
    shutil.copy(here, there)
    os.environ[TESTS] = tests = os.path.join(os.path.dirname(here), "..", "tests")
    os.environ[ANSWER] = os.path.join(tests, "airflow_values.json")
    subprocess.run([os.path.join(os.path.dirname(sys.executable), "airflow"), "db", "migrate"], check=True)
    os.execv(sys.executable, [sys.executable, there])


def values_dag():
    from value_types import VALUES, same, type_of

    from airflow.sdk import DAG, task

    with DAG("values", schedule=None) as dag:

        @task
        def make(ti=None):
            for name, value_of in VALUES.items():
                try:
                    ti.xcom_push(name, value_of())
                    FOUND[name] = {"result": "refused when it is used"}
                except Exception:
                    FOUND[name] = {"result": "refused when it is returned"}

        @task
        def look(ti=None):
            for name, value_of in VALUES.items():
                if FOUND[name]["result"] == "refused when it is returned":
                    continue
                try:
                    value = ti.xcom_pull(task_ids="make", key=name)
                except Exception:
                    continue
                is_same = same(value, value_of())
                FOUND[name] = {"result": "kept"} if is_same else {"result": "changed", "type": type_of(value)}

        make() >> look()

    return dag


if TESTS in os.environ:
    sys.path.insert(0, os.environ[TESTS])
    dag = values_dag()
    if __name__ == "__main__":
        dag.test()
        with open(os.environ[ANSWER], "w", encoding="utf-8") as file:
            json.dump(FOUND, file, indent=1, sort_keys=True)
            file.write("\n")
elif __name__ == "__main__":
    go_where_airflow_looks()
