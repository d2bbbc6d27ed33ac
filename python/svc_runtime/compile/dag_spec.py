"""One recorded DAG → one compiled spec (see packages/spec/schema.ts for the contract)."""

from __future__ import annotations

import datetime
import json
import os

from ..enums import TriggerRule
from ..exceptions import RecordingError
from ..plugins.loader import add_links, loaded
from ..record import current
from ..record.assets import Asset, AssetAlias, BaseAsset
from ..record.base_args import as_list
from ..record.deadline import BaseDeadlineReference, VariableInterval
from ..record.group import MappedTaskGroup, TaskGroup
from ..record.provider_stubs import RecordedObject
from ..record.timezones import iso
from ..record.topology import topological_order
from ..run.secrets import Variable
from .encode import Encoder, seconds, whole
from .params_spec import params_spec
from .schedule_spec import schedule_spec
from .secrets import Declared, scan_source
from .task_spec import expand_spec, stated_settings, task_spec

SCHEMA_VERSION = "1.0"


def _dag_section(dag, encoder: Encoder) -> dict:
    return {
        "dag_id": dag.dag_id,
        "display_name": dag.dag_display_name,
        "description": dag.description,
        "doc_md": dag.doc_md,
        "tags": sorted(dag.tags),
        "owners": sorted({task.owner for task in dag.tasks}),
        "owner_links": dict(sorted(dag.owner_links.items())),
        "start_date": iso(dag.start_date),
        "end_date": iso(dag.end_date),
        "timezone": dag.timezone,
        "catchup": bool(dag.catchup),
        "max_active_tasks": whole(dag.max_active_tasks),
        "max_active_runs": whole(dag.max_active_runs),
        "max_consecutive_failed_dag_runs": whole(dag.max_consecutive_failed_dag_runs),
        "dagrun_timeout": None if dag.dagrun_timeout is None else seconds(dag.dagrun_timeout),
        "is_paused_upon_creation": dag.is_paused_upon_creation,
        "fail_fast": bool(dag.fail_fast),
        "allowed_run_types": dag.allowed_run_types,
        "access_control": encoder.encode(dag.access_control) if dag.access_control else None,
        "render_template_as_native_obj": bool(dag.render_template_as_native_obj),
        "template_searchpath": [encoder.text(path) for path in dag.template_searchpath or []],
        "template_undefined": encoder.encode(dag.template_undefined) if dag.template_undefined else None,
        "jinja_environment_kwargs": encoder.encode(dag.jinja_environment_kwargs or {}),
        "user_defined_macros": sorted(map(str, dag.user_defined_macros or {})),
        "user_defined_filters": sorted(map(str, dag.user_defined_filters or {})),
        "default_args": {name: encoder.encode(value) for name, value in dag.default_args.items()},
        "disable_bundle_versioning": bool(dag.disable_bundle_versioning),
        **(
            {}
            if dag.rerun_with_latest_version is None
            else {"rerun_with_latest_version": bool(dag.rerun_with_latest_version)}
        ),
        **_result_tasks(dag),
        **({} if dag.retries is None else {"retries": dag.retries}),
        "deadlines": [_deadline(alert, encoder) for alert in dag.deadline],
        "has_task_concurrency_limits": any(
            task.max_active_tis_per_dag is not None or task.max_active_tis_per_dagrun is not None for task in dag.tasks
        ),
    }


def _result_tasks(dag) -> dict:
    found = sorted(task.task_id for task in dag.tasks if task.returns_dag_result)
    return {"result_task_ids": found} if found else {}


def _deadline(alert, encoder: Encoder) -> dict:
    interval = alert.interval
    return {
        **_reference(alert.reference, encoder),
        "interval": seconds(_of_variable(interval.key) if isinstance(interval, VariableInterval) else interval),
        "callback": encoder.encode(alert.callback),
        **({"name": str(alert.name)} if alert.name else {}),
    }


def _reference(reference, encoder: Encoder) -> dict:
    if isinstance(reference, BaseDeadlineReference):
        return {"reference": "custom", "reference_arguments": encoder.encode({"class": reference.reference_name})}
    return {"reference": reference.name, "reference_arguments": encoder.encode(reference.arguments)}


def _of_variable(key: str) -> datetime.timedelta:
    text = str(Variable.get(key))
    what = f"the variable {key!r} of a VariableInterval is"
    try:
        found = datetime.timedelta(seconds=float(text))
    except (ValueError, OverflowError):
        raise RecordingError(f"{what} not a number of seconds", f"Set {key} to a number, such as 3600") from None
    if found <= datetime.timedelta(0):
        raise RecordingError(f"{what} {text}, and an interval is positive", f"Set {key} to a number, such as 3600")
    return found


def _groups(dag, encoder: Encoder) -> list:
    """Depth first in definition order, the root (id null) first; children name tasks and groups in order."""
    listed = []

    def visit(group: TaskGroup) -> None:
        listed.append(
            {
                "group_id": group.group_id,
                "label": group.label,
                "display_name": group.group_display_name or group.label,
                "parent_id": group.parent_group.group_id if group.parent_group is not None else None,
                "prefix_group_id": bool(group.prefix_group_id),
                "tooltip": group.tooltip or "",
                **({"doc_md": str(group.doc_md)} if group.doc_md else {}),
                "ui_color": group.ui_color,
                "ui_fgcolor": group.ui_fgcolor,
                "default_args": {name: encoder.encode(value) for name, value in group.default_args.items()},
                "mapping": expand_spec(group.expand_input, encoder, True)
                if isinstance(group, MappedTaskGroup)
                else None,
                "children": [
                    {"kind": "group" if isinstance(child, TaskGroup) else "task", "id": child.node_id}
                    for child in group.children.values()
                ],
                "upstream_group_ids": sorted(item for item in group.upstream_group_ids if item),
                "downstream_group_ids": sorted(item for item in group.downstream_group_ids if item),
                "upstream_task_ids": sorted(group.upstream_task_ids),
                "downstream_task_ids": sorted(group.downstream_task_ids),
                **({} if group.retries is None else {"retries": group.retries}),
                **({"project_dir": str(group.project_dir)} if group.project_dir else {}),
            }
        )
        for child in group.children.values():
            if isinstance(child, TaskGroup):
                visit(child)

    visit(dag.task_group)
    return listed


def _edges(dag) -> list:
    edges = []
    for task in dag.tasks:
        for downstream_id in sorted(task.downstream_task_ids):
            downstream = dag.task_dict[downstream_id]
            edges.append(
                {
                    "from": task.task_id,
                    "to": downstream_id,
                    "label": dag.get_edge_info(task.task_id, downstream_id).get("label"),
                    # The line from a setup to its teardown is drawn, but is not an ordinary dependency.
                    "is_setup_teardown": bool(task.is_setup and downstream.is_teardown),
                }
            )
    return sorted(edges, key=lambda edge: (edge["from"], edge["to"]))


def _labels(dag) -> list:
    """All labels as drawn: ends are task ids, or the join points of a group (`g.upstream_join_id`)."""
    return [
        {"from": up, "to": down, "label": info["label"]}
        for up, downs in sorted(dag.edge_info.items())
        for down, info in sorted(downs.items())
        if info.get("label") is not None
    ]


def _assets(dag, encoder: Encoder) -> dict:
    """Every asset the DAG knows, by name: who produces, who reads, whether it is waited for, who watches it."""
    known: dict = {}
    aliases: dict = {}

    def note(asset: BaseAsset, role: str, task_id: str | None) -> None:
        if isinstance(asset, Asset):
            entry = known.setdefault(
                (asset.name, asset.uri),
                {**encoder.asset(asset), "inlet_of": set(), "outlet_of": set(), "scheduled": False, "watchers": {}},
            )
            for watcher in asset.watchers:
                entry["watchers"][watcher.name] = _trigger(watcher.trigger, encoder)
        elif isinstance(asset, AssetAlias):
            entry = aliases.setdefault(
                asset.name, {**encoder.asset(asset), "inlet_of": set(), "outlet_of": set(), "scheduled": False}
            )
        else:
            return
        if role == "schedule":
            entry["scheduled"] = True
        else:
            entry[role].add(task_id)

    condition = dag.timetable.asset_condition
    for asset in condition.iter_leaves() if condition is not None else ():
        note(asset, "schedule", None)
    for task in dag.tasks:
        for role, values in (("inlet_of", task.inlets), ("outlet_of", task.outlets)):
            for value in values:
                for asset in value.iter_leaves() if isinstance(value, BaseAsset) else ():
                    note(asset, role, task.task_id)
    for entry in (*known.values(), *aliases.values()):
        entry["inlet_of"], entry["outlet_of"] = sorted(entry["inlet_of"]), sorted(entry["outlet_of"])
    for entry in known.values():
        entry["watchers"] = [{"name": name, "trigger": trigger} for name, trigger in sorted(entry["watchers"].items())]
    return {
        "assets": [known[key] for key in sorted(known)],
        "aliases": [aliases[key] for key in sorted(aliases)],
    }


def _trigger(trigger, encoder: Encoder):
    """As it would be written down to be run elsewhere. One of a package that is not installed is what the file says."""
    if isinstance(trigger, RecordedObject) or not callable(getattr(trigger, "serialize", None)):
        return encoder.encode(trigger)
    path, kwargs = trigger.serialize()
    return {"__type": "object", "class": path, "args": [], "kwargs": encoder.encode(dict(kwargs))}


def _check_params(dag, params: list) -> None:
    """A scheduled run has nobody to ask: every param of a scheduled DAG needs a default."""
    if not dag.timetable.can_be_scheduled:
        return
    for param in params:
        allowed = param["schema"].get("type")
        nullable = allowed is None or allowed == "null" or (isinstance(allowed, list) and "null" in allowed)
        if not param["has_default"] or (param.get("default") is None and not nullable):
            raise RecordingError(
                f"DAG '{dag.dag_id}' has a schedule, but its param '{param['name']}' has no default value",
                "Give the param a default, allow null in its type, or set schedule=None",
            )


def _check_setups(dag) -> None:
    """Airflow refuses such a file: with another rule, the task could run although there is nothing to tear down."""
    for setup in dag.tasks:
        for task in setup.downstream_list if setup.is_setup else ():
            rule = TriggerRule(task.trigger_rule)
            if not task.is_teardown and rule is not TriggerRule.ALL_SUCCESS:
                raise RecordingError(
                    f"task '{task.task_id}' has the trigger rule '{rule.value}', but a task directly after"
                    f" a setup ('{setup.task_id}') must have all_success",
                    "Leave trigger_rule out, or let the task come after another task that comes after the setup",
                )


def dag_spec(dag, *, source: dict, tree, dags_folder: str) -> dict:
    encoder = Encoder(dags_folder)
    topological_order(dag)
    folder = os.path.dirname(os.path.join(dags_folder, source["path"]))
    search_path = [folder, *(dag.template_searchpath or [])]
    files: dict = {}
    add_links(dag)
    stated = {task.task_id: stated_settings(task) for task in dag.tasks}
    current.stated_settings[dag.dag_id] = {task_id: names for task_id, names in stated.items() if names}
    tasks = [task_spec(task, encoder, search_path=search_path, files=files, warn=current.warn) for task in dag.tasks]
    params = params_spec(dag.params, encoder, "dag")
    _check_params(dag, params)
    _check_setups(dag)
    declared = Declared()
    if tree is not None:
        scan_source(tree, declared)
    for task in tasks:
        for section in ("arguments", "templates", "mapping"):
            declared.scan_value(task[section] or {})
        if "start_trigger" in task:
            declared.scan_value(json.loads(task["start_trigger"]["kwargs"]))
    for task in dag.tasks:
        declared.scan_attributes(task)
    for group in (dag, *dag.task_group_dict.values()):
        declared.scan_value({name: encoder.encode(value) for name, value in group.default_args.items()})
    for text in files.values():
        declared.scan_template(text)
    plugins = loaded.facts()
    return {
        **({"plugins": plugins} if plugins is not None else {}),
        "schema_version": SCHEMA_VERSION,
        "dag": _dag_section(dag, encoder),
        "schedule": schedule_spec(dag.timetable, encoder, dag),
        "params": params,
        "project": None,
        "tasks": tasks,
        "groups": _groups(dag, encoder),
        "edges": _edges(dag),
        "labels": _labels(dag),
        "assets": _assets(dag, encoder),
        "callbacks": {
            name: [encoder.callback(item) for item in as_list(getattr(dag, f"{name}_callback"))]
            for name in ("on_success", "on_failure")
        },
        "secrets": declared.to_spec(),
        "files": [_file(path, text) for path, text in sorted({**files, **current.version_files}.items())],
        "source": source,
    }


def _file(path: str, text: str) -> dict:
    import hashlib

    return {"path": path, "text": text, "sha256": hashlib.sha256(text.encode("utf-8")).hexdigest()}
