"""Runs inside an environment with Airflow 3.2 and provider packages: runs example DAG files of providers with `DAG.test()` and prints how
each DAG ended, one JSON line for each.

    <environment>/bin/python scripts/golden/provider_example_states.py '{"dags_folder": …, "files": […], …}'

Keys: dags_folder; files (paths within it); logical_date; limit_seconds. `DAG.test()` reads the whole of its folder for each run, so the
folder is a copy in which one example lies at a time. A DAG that does not end within the limit is told as such, and the rest is run in a
new process.
"""

from __future__ import annotations

import datetime
import json
import os
import shutil
import sys
import threading
import time

from run_states import ends, keep_api_in_memory


def prepare(dags_folder: str, home: str) -> str:
    """The copy. Airflow reads the variables when it is imported."""
    copy = os.path.join(home, "dags")
    os.environ.update(
        AIRFLOW__CORE__DAGS_FOLDER=copy,
        AIRFLOW__CORE__LOAD_EXAMPLES="False",
        AIRFLOW__LOGGING__LOGGING_LEVEL="ERROR",
        AIRFLOW__LOGGING__BASE_LOG_FOLDER=os.path.join(home, "logs"),
    )
    sys.path.insert(0, copy)  # as Airflow's processes find modules beside the DAG files
    if not os.path.exists(copy):
        shutil.copytree(dags_folder, copy, ignore=shutil.ignore_patterns("example_*.py", "__pycache__"))
        from airflow.__main__ import main as airflow_command

        sys.argv = ["airflow", "db", "migrate"]
        airflow_command()
    return copy


def newest_run() -> dict | None:
    """What it waits for, where it does not end."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        run = session.scalars(select(DagRun).order_by(DagRun.id.desc())).first()
        return None if run is None else ends(run)


def main(order: dict) -> None:
    print_line = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what tasks print is not part of the answer

    def tell(answer: dict) -> None:
        print_line.write(json.dumps(answer) + "\n")
        print_line.flush()

    copy = prepare(order["dags_folder"], os.environ["AIRFLOW_HOME"])
    keep_api_in_memory()
    from airflow.dag_processing.dagbag import DagBag

    logical_date = datetime.datetime.fromisoformat(order["logical_date"])
    script = os.path.abspath(__file__)
    for number, name in enumerate(order["files"]):
        path = os.path.join(copy, name)

        def go_on_without(path=path, name=name, number=number) -> None:
            tell({"file": name, "error": f"did not end within {order['limit_seconds']} s", "stands": newest_run()})
            os.remove(path)
            os.dup2(print_line.fileno(), 1)
            rest = {**order, "files": order["files"][number + 1 :]}
            os.execv(sys.executable, [sys.executable, script, json.dumps(rest)])

        began = time.monotonic()
        shutil.copyfile(os.path.join(order["dags_folder"], name), path)
        guard = threading.Timer(order["limit_seconds"], go_on_without)
        guard.start()
        try:
            bag = DagBag(path, include_examples=False)
            for error in bag.import_errors.values():
                tell({"file": name, "error": error.strip().splitlines()[-1]})
            for dag_id, dag in sorted(bag.dags.items()):
                end = ends(dag.test(logical_date=logical_date))
                tell({"file": name, "dag": dag_id, "end": end, "seconds": round(time.monotonic() - began, 1)})
        except Exception as error:
            tell({"file": name, "error": f"{type(error).__name__}: {error}"})
        finally:
            guard.cancel()
            os.remove(path)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
