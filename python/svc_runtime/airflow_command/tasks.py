"""Tasks: clear, state"""

from __future__ import annotations

import re
import sys

from . import of_task, over_http
from .dags import date_of, find_run, given_date
from .errors import CommandError
from .output import say


def add(commands) -> None:
    clear = commands.add_parser("clear", help="run tasks again")
    clear.add_argument("dag_id")
    clear.add_argument("-t", "--task-regex")
    clear.add_argument("-s", "--start-date")
    clear.add_argument("-e", "--end-date")
    clear.add_argument("-r", "--only-running", action="store_true")
    clear.add_argument("-f", "--only-failed", action="store_true")
    clear.add_argument("-d", "--downstream", action="store_true")
    clear.add_argument("-u", "--upstream", action="store_true")
    clear.add_argument("-y", "--yes", action="store_true", help="do not ask")
    clear.set_defaults(run=_clear)
    state = commands.add_parser("state", help="print the state of a task instance")
    state.add_argument("dag_id")
    state.add_argument("task_id")
    state.add_argument("logical_date_or_run_id")
    state.add_argument("--map-index", type=int, default=-1)
    state.set_defaults(run=_state)


def _state(arguments) -> None:
    dag_id, task_id, which = arguments.dag_id, arguments.task_id, arguments.logical_date_or_run_id
    if of_task.is_task() and arguments.map_index < 0:
        say(_asked(dag_id, task_id, which))
        return
    run = find_run(dag_id, which)
    if run is None:
        raise CommandError(f"DAG {dag_id} has no run {which}")
    mapped = [str(arguments.map_index)] if arguments.map_index >= 0 else []
    path = ("dags", dag_id, "dagRuns", run["dag_run_id"], "taskInstances", task_id, *mapped)
    say(str(over_http.call("GET", *path)["state"]))


def _asked(dag_id: str, task_id: str, which: str) -> str:
    date = date_of(which)
    named = {"run_ids": [which]} if date is None else {"logical_dates": [date]}
    answer = of_task.ask("external_states", dag_id=dag_id, task_ids=[task_id], **named)
    if not answer["dag_exists"]:
        raise CommandError(f"there is no DAG {dag_id}")
    if answer["missing_task_ids"]:
        raise CommandError(f"DAG {dag_id} has no task {task_id}")
    found = [state.get("state") for state in answer["states"] if state.get("task_id") == task_id]
    return str(found[0]) if found else "None"


def _clear(arguments) -> None:
    dag_id = arguments.dag_id
    body = {
        "dry_run": True,
        "only_failed": arguments.only_failed,
        "only_running": arguments.only_running or None,
        "include_downstream": arguments.downstream,
        "include_upstream": arguments.upstream,
        "start_date": given_date(arguments.start_date),
        "end_date": given_date(arguments.end_date),
    }
    body = {name: value for name, value in body.items() if value is not None}
    if arguments.task_regex is not None:
        known = [task["task_id"] for task in over_http.call("GET", "dags", dag_id, "tasks")["tasks"]]
        body["task_ids"] = [task_id for task_id in known if re.search(arguments.task_regex, task_id)]
        if not body["task_ids"]:
            raise CommandError(f"no task of {dag_id} matches {arguments.task_regex}")
    path = ("dags", dag_id, "clearTaskInstances")
    found = over_http.call("POST", *path, body=body)["task_instances"]
    if not found:
        say("Nothing to clear.")
        return
    if not arguments.yes:
        for instance in found:
            say(f"{instance['dag_id']} {instance['dag_run_id']} {instance['task_id']}")
        if not sys.stdin.isatty():
            raise CommandError("nothing was cleared, and there is nobody to ask: add --yes")
        if input(f"Clear {len(found)} task instances? [y/N] ").strip().lower() not in ("y", "yes"):
            raise CommandError("nothing was cleared")
    cleared = over_http.call("POST", *path, body={**body, "dry_run": False})["task_instances"]
    say(f"Cleared {len(cleared)} task instances.")
