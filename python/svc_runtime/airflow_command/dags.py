"""DAGs: list, list-runs, pause, state, trigger, unpause"""

from __future__ import annotations

import datetime
import json

from . import of_task, over_http
from .errors import CommandError
from .output import say, show


def add(commands) -> None:
    listed = commands.add_parser("list", help="list DAGs")
    listed.set_defaults(run=_list)
    runs = commands.add_parser("list-runs", help="list the runs of a DAG")
    runs.add_argument("dag_id", nargs="?")
    runs.add_argument("-d", "--dag-id", dest="dag", help="as on Airflow 2")
    runs.add_argument("--state")
    runs.add_argument("--no-backfill", action="store_true")
    runs.add_argument("-s", "--start-date")
    runs.add_argument("-e", "--end-date")
    runs.set_defaults(run=_list_runs)
    for name, is_paused in (("pause", True), ("unpause", False)):
        command = commands.add_parser(name, help=f"{name} a DAG")
        command.add_argument("dag_id")
        command.add_argument("-y", "--yes", action="store_true")
        command.set_defaults(run=_pause, is_paused=is_paused)
    state = commands.add_parser("state", help="print the state of a run")
    state.add_argument("dag_id")
    state.add_argument("logical_date_or_run_id")
    state.set_defaults(run=_state)
    trigger = commands.add_parser("trigger", help="start a run")
    trigger.add_argument("dag_id")
    trigger.add_argument("-c", "--conf", help="a JSON object")
    trigger.add_argument("-r", "--run-id")
    trigger.add_argument("-l", "-e", "--logical-date", "--exec-date")
    trigger.add_argument("--no-replace-microseconds", action="store_true")
    trigger.set_defaults(run=_trigger)


def _list(arguments) -> None:
    rows = [
        {
            "dag_id": dag["dag_id"],
            "fileloc": dag["fileloc"],
            "owners": ", ".join(dag["owners"]),
            "is_paused": dag["is_paused"],
            "bundle_name": dag["bundle_name"],
            "bundle_version": dag["bundle_version"],
        }
        for dag in over_http.every("dags", "dags")
    ]
    show(rows, arguments.output)


def _list_runs(arguments) -> None:
    dag_id = arguments.dag_id or arguments.dag
    if dag_id is None:
        raise CommandError("the following arguments are required: dag_id", 2)
    query = {
        "state": arguments.state,
        "logical_date_gte": given_date(arguments.start_date),
        "logical_date_lte": given_date(arguments.end_date),
        "order_by": "-run_after",
    }
    found = over_http.every(
        "dag_runs", "dags", dag_id, "dagRuns", query={name: value for name, value in query.items() if value}
    )
    rows = [
        {
            "dag_id": dag_id,
            "run_id": run["dag_run_id"],
            **{name: run[name] for name in ("state", "run_after", "logical_date", "start_date", "end_date")},
        }
        for run in found
        if not (arguments.no_backfill and run["run_type"] == "backfill")
    ]
    show(rows, arguments.output)


def _pause(arguments) -> None:
    found = over_http.call("PATCH", "dags", arguments.dag_id, body={"is_paused": arguments.is_paused})
    show([{"dag_id": found["dag_id"], "is_paused": found["is_paused"]}], arguments.output)


def date_of(text: str | None) -> str | None:
    """With a time zone, UTC where none is given; None for what is not a date, as a run id."""
    try:
        date = datetime.datetime.fromisoformat((text or "").strip().replace("Z", "+00:00"))
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=datetime.timezone.utc)).isoformat()


def given_date(text: str | None) -> str | None:
    """Of an option."""
    date = date_of(text)
    if text is not None and date is None:
        raise CommandError(f"{text} is not a date: write it as 2026-01-31T00:00:00+00:00", 2)
    return date


def _state(arguments) -> None:
    dag_id, which = arguments.dag_id, arguments.logical_date_or_run_id
    if of_task.is_task():
        date = date_of(which)
        if date is None:
            say(of_task.ask("get_dag_run_state", dag_id=dag_id, run_id=which)["state"])
        else:
            found = of_task.ask("external_states", dag_id=dag_id, logical_dates=[date])["states"]
            say(str(found[0]["state"]) if found else "None")
        return
    run = find_run(dag_id, which)
    say("None" if run is None else f"{run['state']}, {json.dumps(run['conf'])}" if run["conf"] else run["state"])


def find_run(dag_id: str, which: str) -> dict | None:
    """By its id, or by its logical date; None when there is none."""
    date = date_of(which)
    if date is not None:
        query = {"logical_date_gte": date, "logical_date_lte": date}
        return next(iter(over_http.every("dag_runs", "dags", dag_id, "dagRuns", query=query)), None)
    try:
        return over_http.call("GET", "dags", dag_id, "dagRuns", which)
    except over_http.NotFound:
        over_http.call("GET", "dags", dag_id)  # a DAG that does not exist is an error
        return None


def _trigger(arguments) -> None:
    dag_id = arguments.dag_id
    conf = _conf(arguments.conf)
    date = given_date(arguments.logical_date)
    if of_task.is_task():
        more = {} if date is None else {"logical_date": date}
        found = of_task.ask("trigger_dag_run", dag_id=dag_id, run_id=arguments.run_id, conf=conf, **more)
        run = {"dag_run_id": found["run_id"], "logical_date": found["logical_date"], "state": found["state"]}
    else:
        body = {"conf": conf, "dag_run_id": arguments.run_id, "logical_date": date}
        given = {name: value for name, value in body.items() if value is not None}
        run = over_http.call("POST", "dags", dag_id, "dagRuns", body=given)
    row = {
        "conf": conf or {},
        "dag_id": dag_id,
        "dag_run_id": run["dag_run_id"],
        "logical_date": run["logical_date"],
        "state": run["state"],
    }
    show([row], arguments.output)


def _conf(text: str | None) -> dict | None:
    if text is None:
        return None
    try:
        conf = json.loads(text)
    except ValueError:
        conf = None
    if not isinstance(conf, dict):
        raise CommandError("--conf must be a JSON object", 2)
    return conf
