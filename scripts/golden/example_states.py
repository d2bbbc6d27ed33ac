"""Runs inside an Airflow environment: runs example DAGs with `DAG.test()` and prints how each ended, one JSON line for each.

    <airflow environment>/bin/python scripts/golden/example_states.py '{"dags_folder": …, "skip": […], …}'

Keys: dags_folder; providers (a folder whose standard provider goes before the installed one, or null); logical_date; later_dates (by DAG id);
skip and only (DAG ids; only may be empty for all); conf (by DAG id); moments (by DAG id, name and time: the clock is set to it); limit_seconds. A DAG that
does not end within the limit is told as such, and the rest is run in a new process.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import sys
import threading
import time

from run_states import dag_bag, ends, keep_api_in_memory


def prepare(dags_folder: str, providers: str | None) -> None:
    """Airflow reads these when it is imported. With its examples come the plugins that they use."""
    home = os.environ["AIRFLOW_HOME"]
    os.environ.update(
        AIRFLOW__CORE__DAGS_FOLDER=dags_folder,
        AIRFLOW__CORE__LOAD_EXAMPLES="True",
        AIRFLOW__LOGGING__LOGGING_LEVEL="ERROR",
        AIRFLOW__LOGGING__BASE_LOG_FOLDER=os.path.join(home, "logs"),
    )
    if providers:
        import airflow.providers.standard

        # Nothing of it but its description is loaded yet.
        airflow.providers.standard.__path__.insert(0, os.path.join(providers, "standard"))
    if os.path.exists(os.path.join(home, "prepared")):
        return
    from airflow.__main__ import main as airflow_command

    sys.argv = ["airflow", "db", "migrate"]
    airflow_command()
    with open(os.path.join(home, "prepared"), "w", encoding="utf-8"):
        pass


def at(moment: str | None):
    if moment is None:
        return contextlib.nullcontext()
    import time_machine

    return time_machine.travel(datetime.datetime.fromisoformat(moment), tick=True)


def main(order: dict) -> None:
    print_line = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what tasks print is not part of the answer

    def tell(answer: dict) -> None:
        print_line.write(json.dumps(answer) + "\n")
        print_line.flush()

    prepare(order["dags_folder"], order["providers"])
    keep_api_in_memory()
    bag = dag_bag(order["dags_folder"])
    for path, error in bag.import_errors.items():
        tell({"file": path, "error": error})

    def date_of(dag_id: str) -> datetime.datetime:
        return datetime.datetime.fromisoformat(order["later_dates"].get(dag_id, order["logical_date"]))

    def go_on_without(dag_id: str) -> None:
        tell({"dag": dag_id, "error": f"did not end within {order['limit_seconds']} s"})
        os.dup2(print_line.fileno(), 1)
        skip = [*order["skip"], *done, dag_id]
        os.execv(sys.executable, [sys.executable, *sys.argv[:1], json.dumps({**order, "skip": skip})])

    sys.argv = [os.path.abspath(__file__)]
    done: list[str] = []
    for dag_id, dag in sorted(bag.dags.items()):
        if dag_id in order["skip"] or (order["only"] and dag_id not in order["only"]):
            continue
        for name, moment in order["moments"].get(dag_id, {"": None}).items():
            began = time.monotonic()
            guard = threading.Timer(order["limit_seconds"], go_on_without, [dag_id])
            guard.start()
            try:
                with at(moment):
                    end = ends(dag.test(logical_date=date_of(dag_id), run_conf=order["conf"].get(dag_id)))
            except Exception as error:
                tell({"dag": dag_id, "error": f"{type(error).__name__}: {error}"})
                continue
            finally:
                guard.cancel()
            key = f"{dag_id}@{name}" if name else dag_id
            tell({"dag": key, "end": end, "seconds": round(time.monotonic() - began, 1)})
        done.append(dag_id)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
