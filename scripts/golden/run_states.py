"""Runs inside an Airflow 3.2 environment: runs the DAGs of a folder and writes how every task instance and run ended, and
of DAGs with the tag "values" what their tasks returned.

    <airflow environment>/bin/python scripts/golden/run_states.py python/tests/run_dags <output file> [DAG id ...]

With DAG ids, only these are run and the others are kept as the file has them. Each run goes through `DAG.test()`: real
scheduling decisions and real task processes' code, on a scratch database, one task after the other, so that the order
of ends (which some trigger rules depend on) is the order of the DAG.
"""

from __future__ import annotations

import datetime
import functools
import inspect
import json
import os
import sys
import tempfile
import time

# Logical dates are fixed: what a task does may depend on them, and golden files should not change by themselves.
FIRST_RUN = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)


def prepare(home: str, dags_folder: str) -> None:
    """Airflow reads these when it is imported."""
    os.environ.update(
        AIRFLOW_HOME=home,
        AIRFLOW__CORE__DAGS_FOLDER=dags_folder,
        AIRFLOW__CORE__LOAD_EXAMPLES="False",
        AIRFLOW__LOGGING__LOGGING_LEVEL="ERROR",
        AIRFLOW__LOGGING__BASE_LOG_FOLDER=os.path.join(home, "logs"),
    )
    # Airflow's processes find modules beside the DAG files this way.
    sys.path.insert(0, dags_folder)
    from airflow.__main__ import main as airflow

    for command in ("db migrate", "dags reserialize"):
        sys.argv = ["airflow", *command.split()]
        airflow()


def keep_api_in_memory() -> None:
    """`DAG.test()` builds the API that tasks talk to anew for every task, which takes seconds each time."""
    from airflow.api_fastapi.execution_api import app

    app.InProcessExecutionAPI = functools.cache(app.InProcessExecutionAPI)


def dag_bag(folder: str):
    """Loads the DAGs of a folder. Only Airflow 3.2 would add its own examples to them."""
    from airflow.dag_processing.dagbag import DagBag

    has_examples = "include_examples" in inspect.signature(DagBag).parameters
    return DagBag(folder, **({"include_examples": False} if has_examples else {}))


def ends(run) -> dict:
    instances = {}
    for instance in sorted(run.get_task_instances(), key=lambda i: (i.task_id, i.map_index)):
        name = instance.task_id if instance.map_index < 0 else f"{instance.task_id}[{instance.map_index}]"
        instances[name] = str(instance.state) if instance.state else None
    return {"state": str(run.state), "instances": instances}


def values(run) -> dict:
    """What tasks returned, and the names that instances gave themselves."""
    from airflow.models.xcom import XComModel
    from airflow.utils.session import create_session

    def name(row) -> str:
        return row.task_id if row.map_index < 0 else f"{row.task_id}[{row.map_index}]"

    with create_session() as session:
        of_run = (XComModel.dag_id == run.dag_id, XComModel.run_id == run.run_id, XComModel.key == "return_value")
        returned = {name(row): row.value for row in session.query(XComModel).filter(*of_run)}
    named = {
        name(instance): instance.rendered_map_index
        for instance in run.get_task_instances()
        if instance.map_index >= 0 and instance.rendered_map_index not in (None, str(instance.map_index))
    }
    return {"values": returned, "names": named}


def main(dags_folder: str, output: str, only: list[str]) -> None:
    golden = {}
    if only and os.path.exists(output):
        with open(output, encoding="utf-8") as file:
            golden = json.load(file)
    with tempfile.TemporaryDirectory() as scratch:
        # A home that is there already need not be made again, which takes a minute.
        prepare(os.environ.get("AIRFLOW_HOME", scratch), os.path.abspath(dags_folder))
        keep_api_in_memory()
        bag = dag_bag(os.path.abspath(dags_folder))
        if bag.import_errors:
            sys.exit("\n".join(bag.import_errors.values()))
        for dag_id, dag in sorted(bag.dags.items()):
            # Schedules need a scheduler: scripts/live-states.ts.
            if "scheduled" in dag.tags or (only and dag_id not in only):
                continue
            began = time.monotonic()
            runs = 2 if "two_runs" in dag.tags else 1
            dates = [FIRST_RUN + datetime.timedelta(days=day) for day in range(runs)]
            golden[dag_id] = []
            for date in dates:
                run = dag.test(logical_date=date)
                golden[dag_id].append({**ends(run), **(values(run) if "values" in dag.tags else {})})
            print(dag_id, [run["state"] for run in golden[dag_id]], f"{time.monotonic() - began:.1f} s", file=sys.stderr)
            # After each, so that what was found is not lost when one of them does not end.
            with open(output, "w", encoding="utf-8") as file:
                json.dump(golden, file, indent=2, sort_keys=True)
                file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
