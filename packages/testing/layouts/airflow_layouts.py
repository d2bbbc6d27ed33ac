"""Runs inside an Airflow 3.2 environment: prints what its DagBag makes of repositories, one JSON line for each.

    AIRFLOW_HOME=<scratch> python airflow_layouts.py < one JSON line for each repository

Airflow is imported once; each repository is read in a fork, because its modules have the names of those of others.
"""

from __future__ import annotations

import json
import os
import re
import sys
import types

from airflow.dag_processing.dagbag import DagBag


def task_facts(task) -> dict:
    return {
        "upstream": sorted(task.upstream_task_ids),
        "rule": str(getattr(task.trigger_rule, "value", task.trigger_rule)),
        "retries": task.retries,
    }


def schedule_facts(dag) -> dict:
    """`CronTriggerTimetable` is `cron_trigger`."""
    timetable = dag.timetable
    kind = re.sub(r"(Timetable|Schedule)$", "", type(timetable).__name__)
    out = {"type": re.sub(r"(?<!^)(?=[A-Z])", "_", kind).lower().removesuffix("_triggered")}
    if isinstance(getattr(timetable, "expression", None), str):
        return {**out, "expression": timetable.expression, "timezone": zone(timetable.timezone)}
    # Classes of `airflow.timetables` keep it to themselves, but write it down.
    written = timetable.serialize() if hasattr(timetable, "serialize") else {}
    return {**out, **{name: written[name] for name in ("expression", "expressions", "timezone") if name in written}}


def zone(value) -> str:
    return getattr(value, "key", None) or value.name


def dag_facts(dag) -> dict:
    return {
        "file": os.path.relpath(dag.fileloc),
        "schedule": schedule_facts(dag),
        "tasks": {task.task_id: task_facts(task) for task in dag.tasks},
    }


def read(layout: dict) -> dict:
    root = layout["root"]
    for place in layout["path"]:
        name, mark, folder = place.partition("=")
        if mark:
            package = types.ModuleType(name)
            package.__path__ = [os.path.join(root, folder)]
            sys.modules[name] = package
        else:
            sys.path.append(os.path.join(root, place))
    os.chdir(os.path.join(root, layout["workingFolder"]))
    dags = os.path.join(root, layout["dags"])
    os.environ.update(AIRFLOW_HOME=root, AIRFLOW__CORE__DAGS_FOLDER=dags, **layout["env"])
    bag = DagBag(dag_folder=dags, include_examples=False)
    errors = {os.path.relpath(path, root): text.strip().splitlines()[-1] for path, text in bag.import_errors.items()}
    os.chdir(root)
    return {"dags": {key: dag_facts(dag) for key, dag in bag.dags.items()}, "errors": errors}


out = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
for line in sys.stdin:
    given = json.loads(line)
    child = os.fork()
    if child == 0:
        out.write(json.dumps({"name": given["name"], **read(given)}, sort_keys=True) + "\n")
        out.flush()
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit(f"{given['name']} could not be read")
