"""Runs generated DAG files inside an Airflow 3.2 environment. Prints one JSON line with all that happened for each.

    <airflow environment>/bin/python scripts/golden/differential.py <folder of the files> <folder for notes> < names

Each run goes through `DAG.test()` on a scratch database. `--prepare` instead of the second folder makes the database.
"""

from __future__ import annotations

import datetime
import functools
import json
import os
import sys
import time

LOGICAL_DATE = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)


def prepare(dags_folder: str) -> None:
    """Airflow reads these when it is imported."""
    os.environ.update(
        AIRFLOW__CORE__DAGS_FOLDER=dags_folder,
        AIRFLOW__CORE__LOAD_EXAMPLES="False",
        AIRFLOW__CORE__MAX_TEMPLATED_FIELD_LENGTH="100000",
        AIRFLOW__LOGGING__LOGGING_LEVEL="CRITICAL",
        AIRFLOW__LOGGING__BASE_LOG_FOLDER=os.path.join(os.environ["AIRFLOW_HOME"], "logs"),
        AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=f"sqlite:///{os.environ['AIRFLOW_HOME']}/airflow.db",
    )
    sys.path.insert(0, dags_folder)


def keep_api_in_memory() -> None:
    """`DAG.test()` builds the API that tasks talk to anew for every task, which takes seconds each time."""
    from airflow.api_fastapi.execution_api import app

    app.InProcessExecutionAPI = functools.cache(app.InProcessExecutionAPI)
    # It waits for a second where nothing can run yet; what generated tasks wait for comes sooner.
    sleep = time.sleep
    time.sleep = lambda seconds: sleep(min(seconds, 0.02))


def name_of(row) -> str:
    return row.task_id if row.map_index < 0 else f"{row.task_id}[{row.map_index}]"


def plain(value):
    """As JSON, with the classes of what JSON does not have."""
    try:
        return json.loads(json.dumps(value))
    except TypeError:
        return {"unreadable": str(value)}


def text_of(value) -> str:
    return json.dumps(value, separators=(",", ":"))


def stored(run) -> dict:
    from airflow.models.asset import AssetEvent, AssetModel
    from airflow.models.renderedtifields import RenderedTaskInstanceFields
    from airflow.models.xcom import XComModel
    from airflow.utils.session import create_session

    with create_session() as session:
        of_run = lambda model: (model.dag_id == run.dag_id, model.run_id == run.run_id)  # noqa: E731
        values = session.query(XComModel).filter(*of_run(XComModel))
        xcoms = [[name_of(row), row.key, text_of(row.value)] for row in values]
        fields = RenderedTaskInstanceFields
        rendered = {name_of(row): plain(row.rendered_fields) for row in session.query(fields).filter(*of_run(fields))}
        events = [
            {
                "asset": name,
                "uri": uri,
                "task": event.source_task_id,
                "index": event.source_map_index,
                "extra": plain(event.extra),
            }
            for event, name, uri in session.query(AssetEvent, AssetModel.name, AssetModel.uri)
            .join(AssetModel, AssetModel.id == AssetEvent.asset_id)
            .filter(AssetEvent.source_dag_id == run.dag_id, AssetEvent.source_run_id == run.run_id)
        ]
    return {"xcoms": sorted(xcoms, key=json.dumps), "rendered": rendered, "events": sorted(events, key=json.dumps)}


def instances(run) -> dict:
    found = {}
    for instance in sorted(run.get_task_instances(), key=lambda i: (i.task_id, i.map_index)):
        found[name_of(instance)] = {
            "state": str(instance.state) if instance.state else None,
            "tries": instance.try_number,
            "start": instance.start_date.timestamp() if instance.start_date else None,
            "end": instance.end_date.timestamp() if instance.end_date else None,
            "label": instance.rendered_map_index,
        }
    return found


def run_file(path: str, notes: str) -> dict:
    from airflow.dag_processing.dagbag import DagBag, sync_bag_to_db

    bag = DagBag(path, include_examples=False)
    if bag.import_errors:
        return {"refused": next(iter(bag.import_errors.values())).strip().splitlines()[-1]}
    (dag,) = bag.dags.values()
    upstream = {task.task_id: sorted(task.upstream_task_ids) for task in dag.tasks}
    sync_bag_to_db(bag, "dags-folder", None)
    try:
        run = dag.test(logical_date=LOGICAL_DATE)
    except Exception as error:
        return {"broken": f"{type(error).__name__}: {error}"}
    lines = os.path.join(notes, f"{dag.dag_id}.jsonl")
    noted = []
    if os.path.exists(lines):
        with open(lines, encoding="utf-8") as file:
            noted = [json.loads(line) for line in file]
    return {
        "run": run.run_id,
        "state": str(run.state),
        "upstream": upstream,
        "instances": instances(run),
        "notes": noted,
        **stored(run),
    }


def main(dags_folder: str, notes: str) -> None:
    os.environ["FUZZ_LOG"] = notes
    prepare(os.path.abspath(dags_folder))
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # What tasks print must not be read as an answer.
    os.dup2(2, 1)
    if notes == "--prepare":
        from airflow.__main__ import main as airflow

        sys.argv = ["airflow", "db", "migrate"]
        airflow()
        return
    keep_api_in_memory()
    from airflow.dag_processing.bundles.manager import DagBundlesManager

    DagBundlesManager().sync_bundles_to_db()
    for line in sys.stdin:
        name = line.strip()
        began = time.monotonic()
        result = run_file(os.path.join(dags_folder, name), notes)
        out.write(json.dumps({"file": name, "seconds": round(time.monotonic() - began, 2), **result}) + "\n")
        out.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
