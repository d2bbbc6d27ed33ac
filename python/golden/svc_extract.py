"""Reduces compiled specs to the normal form of normal_form.py."""

from __future__ import annotations

import datetime
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from normal_form import TASK_KEYS, number

_CALLBACKS = ("on_execute", "on_failure", "on_success", "on_retry", "on_skipped")


def _duration(value):
    if value is None:
        return None
    if value["kind"] == "timedelta":
        return number(value["days"] * 86400 + value["seconds"] + value["microseconds"] / 1e6)
    return {key: item for key, item in value.items() if key != "kind"}


_ASSET_KINDS = {
    "asset": "asset",
    "asset_alias": "alias",
    "asset_name_ref": "name_ref",
    "asset_uri_ref": "uri_ref",
    "asset_any": "any",
    "asset_all": "all",
}


def _asset(value):
    kind = _ASSET_KINDS[value["type"]]
    if kind in ("any", "all"):
        return {"kind": kind, "members": [_asset(member) for member in value["objects"]]}
    if kind == "alias":
        return {"kind": kind, "name": value["name"]}
    return {"kind": kind, **{key: item for key, item in value.items() if key != "type"}}


def _schedule(spec: dict) -> dict:
    kind = spec["type"]
    out = {"type": kind}
    if "expression" in spec:
        out["expression"] = spec["expression"]
        out["timezone"] = spec["timezone"]
    if kind == "cron_trigger":
        out["interval"] = _duration(spec["interval"])
        value = spec["run_immediately"]
        out["run_immediately"] = _duration(value) if isinstance(value, dict) else value
    if kind == "multiple_cron_trigger":
        out["expressions"] = spec["expressions"]
        out["timezone"] = spec["timezone"]
    if "delta" in spec:
        out["delta"] = _duration(spec["delta"])
        if kind == "delta_trigger":
            out["interval"] = _duration(spec["interval"])
    if kind == "events":
        dates = [
            datetime.datetime.fromisoformat(date).astimezone(datetime.timezone.utc) for date in spec["event_dates"]
        ]
        out["event_dates"] = [date.isoformat() for date in dates]
        out["restrict_to_events"] = spec["restrict_to_events"]
    if "assets" in spec:
        out["condition"] = _asset(spec["assets"])
    if kind == "asset_or_time":
        out["timetable"] = _schedule(spec["timetable"])
    return out


def _references(value) -> list:
    found: set = set()

    def visit(node) -> None:
        if isinstance(node, list):
            for item in node:
                visit(item)
        elif isinstance(node, dict):
            if node.get("__type") == "xcom":
                found.add(node["task_id"])
            for item in node.values():
                visit(item)

    visit(value)
    return sorted(found)


def _xcom(value, length):
    tag = value.get("__type") if isinstance(value, dict) else None
    if tag == "xcom":
        return {"xcom": value["task_id"], "key": value["key"]}
    names = {"xcom_map": "MapXComArg", "xcom_zip": "ZipXComArg", "xcom_concat": "ConcatXComArg"}
    if tag in names:
        return {names[tag]: _references(value)}
    if length is not None:
        return {"length": length}
    return {"other": "MappedArgument" if tag == "mapped_argument" else tag}


def _mapping(spec):
    if spec is None:
        return None
    if spec["kind"] == "expand":
        return {"kind": "expand", "arguments": [[a["name"], _xcom(a["value"], a["length"])] for a in spec["arguments"]]}
    return {"kind": "expand_kwargs", "value": _xcom(spec["value"], spec["length"])}


def _params(listed: list) -> dict:
    return {
        p["name"]: {
            "default": p["default"] if p["has_default"] else "<none>",
            "schema": p["schema"],
            "description": p["description"],
        }
        for p in listed
    }


def _task(task: dict, dag_params: list, totals: dict) -> dict:
    policy = task["policy"]
    form = {
        "operator": task["operator"]["module"],
        "task_type": task["operator"]["task_type"],
        "operator_name": task["operator"]["operator_name"],
        "ui_color": task["operator"]["ui_color"],
        "ui_fgcolor": task["operator"]["ui_fgcolor"],
        "template_fields": sorted(task["template_fields"] or []),
        "upstream": task["upstream_task_ids"],
        "downstream": task["downstream_task_ids"],
        "priority_weight_total": None if task["mapping"] else totals[task["task_id"]],
        "is_setup": task["is_setup"],
        "is_teardown": task["is_teardown"],
        "on_failure_fail_dagrun": task["on_failure_fail_dagrun"],
        "mapped": _mapping(task["mapping"]),
        "group": task["group_id"],
        "label": task["label"],
        "display_name": task["display_name"],
        "docs": {name: text for name, text in task["docs"].items() if text},
        "callbacks": {f"{n}_callback": len(task["callbacks"][n]) for n in _CALLBACKS if n in task["callbacks"]},
        "params": {**_params(dag_params), **_params(task["params"])},
        "inlets": [_asset(a) for a in task["inlets"]],
        "outlets": [_asset(a) for a in task["outlets"]],
    }
    for key in TASK_KEYS:
        if key not in form:
            form[key] = number(policy[key])
    return form


def _totals(tasks: list) -> dict:
    """Effective priorities: own weight plus that of everything on the rule's side."""
    by_id = {task["task_id"]: task for task in tasks}

    def relatives(task_id: str, side: str) -> set:
        seen: set = set()
        pending = list(by_id[task_id][f"{side}_task_ids"])
        while pending:
            other = pending.pop()
            if other not in seen:
                seen.add(other)
                pending.extend(by_id[other][f"{side}_task_ids"])
        return seen

    totals = {}
    for task in tasks:
        rule = task["policy"]["weight_rule"]
        own = task["policy"]["priority_weight"]
        if rule != "absolute":
            own += sum(by_id[other]["policy"]["priority_weight"] for other in relatives(task["task_id"], rule))
        totals[task["task_id"]] = own
    return totals


def _group(group: dict) -> dict:
    return {
        "parent": group["parent_id"],
        "prefix_group_id": group["prefix_group_id"],
        "tooltip": group["tooltip"],
        "label": group["label"],
        "display_name": group["display_name"],
        "ui_color": group["ui_color"],
        "ui_fgcolor": group["ui_fgcolor"],
        "children": [child["id"] for child in group["children"]],
        "mapped": _mapping(group["mapping"]),
        **{
            k: group[k]
            for k in ("upstream_group_ids", "downstream_group_ids", "upstream_task_ids", "downstream_task_ids")
        },
    }


def normal_form(spec: dict) -> dict:
    dag = spec["dag"]
    totals = _totals(spec["tasks"])
    form = {
        key: dag[key]
        for key in (
            "dag_id display_name description doc_md tags start_date end_date timezone catchup max_active_tasks "
            "max_active_runs max_consecutive_failed_dag_runs dagrun_timeout is_paused_upon_creation fail_fast "
            "render_template_as_native_obj owner_links"
        ).split()
    }
    form.update(
        has_on_success_callback=bool(spec["callbacks"]["on_success"]),
        has_on_failure_callback=bool(spec["callbacks"]["on_failure"]),
        deadlines=len(dag["deadlines"]),
        schedule=_schedule(spec["schedule"]),
        params=_params(spec["params"]),
        param_order=[p["name"] for p in spec["params"]],
        tasks={task["task_id"]: _task(task, spec["params"], totals) for task in spec["tasks"]},
        task_order=[task["task_id"] for task in spec["tasks"]],
        groups={str(group["group_id"]): _group(group) for group in spec["groups"]},
        labels=sorted([e["from"], e["to"], e["label"]] for e in spec["labels"]),
    )
    return form
