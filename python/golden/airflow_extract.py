"""Runs inside an Airflow 3.2 environment: writes the normal form of every DAG file in a folder.

AIRFLOW_HOME=<scratch> <airflow-venv>/bin/python airflow_extract.py <dags folder> <output folder>
"""

from __future__ import annotations

import datetime
import json
import os
import re
import sys
import warnings

warnings.simplefilter("ignore")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from normal_form import TASK_KEYS, number  # noqa: E402


def iso(value):
    return value.astimezone(datetime.timezone.utc).isoformat() if value is not None else None


def seconds(value):
    if value is None:
        return None
    if isinstance(value, datetime.timedelta):
        return number(value.total_seconds())
    if type(value).__name__ == "relativedelta":
        return {
            k: v
            for k, v in vars(value).items()
            if v and k in ("years", "months", "days", "hours", "minutes", "seconds")
        }
    return number(value)


def zone(value):
    return getattr(value, "key", None) or getattr(value, "name", None) or str(value)


def asset(value):
    kind = type(value).__name__
    if kind in ("Asset", "AssetDefinition", "Dataset"):
        return {"kind": "asset", "name": value.name, "uri": value.uri, "group": value.group, "extra": value.extra}
    if kind == "AssetAlias":
        return {"kind": "alias", "name": value.name}
    if kind == "AssetNameRef":
        return {"kind": "name_ref", "name": value.name}
    if kind == "AssetUriRef":
        return {"kind": "uri_ref", "uri": value.uri}
    return {"kind": {"AssetAny": "any", "AssetAll": "all"}[kind], "members": [asset(m) for m in value.objects]}


def schedule(timetable, dag) -> dict:
    kind = {
        "NullTimetable": "null",
        "OnceTimetable": "once",
        "ContinuousTimetable": "continuous",
        "CronTriggerTimetable": "cron_trigger",
        "CronDataIntervalTimetable": "cron_data_interval",
        "MultipleCronTriggerTimetable": "multiple_cron_trigger",
        "CronPartitionTimetable": "cron_partition",
        "DeltaTriggerTimetable": "delta_trigger",
        "DeltaDataIntervalTimetable": "delta_data_interval",
        "EventsTimetable": "events",
        "AssetTriggeredTimetable": "asset",
        "AssetOrTimeSchedule": "asset_or_time",
        "PartitionedAssetTimetable": "partitioned_asset",
    }[type(timetable).__name__]
    out = {"type": kind}
    if hasattr(timetable, "expression"):
        out["expression"] = timetable.expression
        out["timezone"] = zone(timetable.timezone)
    if kind == "cron_trigger":
        out["interval"] = seconds(timetable.interval)
        ri = timetable.run_immediately
        out["run_immediately"] = seconds(ri) if isinstance(ri, datetime.timedelta) else ri
    if kind == "multiple_cron_trigger":
        out["expressions"] = [t.expression for t in timetable.timetables]
        out["timezone"] = zone(timetable.timetables[0].timezone)
    if hasattr(timetable, "delta"):
        out["delta"] = seconds(timetable.delta)
        if kind == "delta_trigger":
            out["interval"] = seconds(timetable.interval)
    if kind == "events":
        out["event_dates"] = sorted(iso(d) for d in timetable.event_dates)
        out["restrict_to_events"] = timetable.restrict_to_events
    if getattr(timetable, "asset_condition", None) is not None:
        out["condition"] = asset(timetable.asset_condition)
    if kind == "asset_or_time":
        out["timetable"] = schedule(timetable.timetable, dag)
    return out


def references(value) -> list:
    from airflow.sdk.definitions.xcom_arg import XComArg

    return sorted({op.task_id for op, _ in XComArg.iter_xcom_references(value)})


def xcom(value):
    """Only shapes that both sides can say: length of literals, kind and sources of references."""
    kind = type(value).__name__
    if kind == "PlainXComArg":
        return {"xcom": value.operator.task_id, "key": value.key}
    if kind in ("MapXComArg", "ZipXComArg", "ConcatXComArg"):
        return {kind: references(value)}
    if kind in ("list", "tuple", "dict"):
        return {"length": len(value)}
    return {"other": kind}


def expand(expand_input):
    if type(expand_input).__name__ == "DictOfListsExpandInput":
        return {"kind": "expand", "arguments": [[name, xcom(value)] for name, value in expand_input.value.items()]}
    return {"kind": "expand_kwargs", "value": xcom(expand_input.value)}


def mapped(task):
    if not task.is_mapped:
        return None
    name = "op_kwargs_expand_input" if hasattr(task, "op_kwargs_expand_input") else "expand_input"
    return expand(getattr(task, name))


def params(value) -> dict:
    from airflow.sdk.definitions._internal.types import is_arg_set

    out = {}
    for name in value:
        param = value.get_param(name)
        out[name] = {
            "default": param.value if is_arg_set(param.value) else "<none>",
            "schema": param.schema,
            "description": param.description,
        }
    return out


UNSAID = {"do_xcom_push": True, "multiple_outputs": False, "map_index_template": None}
CALLBACKS = (
    "on_execute_callback",
    "on_failure_callback",
    "on_success_callback",
    "on_retry_callback",
    "on_skipped_callback",
)


def count(value) -> int:
    """A mapped operator keeps a single callback as it was given."""
    return len(value) if isinstance(value, (list, tuple)) else 1


def task_form(task) -> dict:
    group = task.task_group
    form = {
        # Classes of the DAG file itself live in a module named by a hash of its path.
        "operator": re.sub(
            r"^unusual_prefix_[0-9a-f]+_",
            "svc_dag_",
            task.operator_class.__module__ if task.is_mapped else type(task).__module__,
        ),
        "task_type": task.task_type,
        "operator_name": task.operator_name,
        "ui_color": task.ui_color,
        "ui_fgcolor": task.ui_fgcolor,
        "template_fields": sorted(task.template_fields),
        "upstream": sorted(task.upstream_task_ids),
        "downstream": sorted(task.downstream_task_ids),
        "trigger_rule": str(task.trigger_rule.value if hasattr(task.trigger_rule, "value") else task.trigger_rule),
        "retries": task.retries,
        "retry_delay": seconds(task.retry_delay),
        "retry_exponential_backoff": number(float(task.retry_exponential_backoff))
        if task.retry_exponential_backoff is not True
        else 2,
        "max_retry_delay": seconds(task.max_retry_delay),
        "start_date": iso(task.start_date),
        "end_date": iso(task.end_date),
        "weight_rule": str(getattr(task.weight_rule, "value", task.weight_rule)),
        "priority_weight_total": None,
        "execution_timeout": seconds(task.execution_timeout),
        "email": list(task.email) if isinstance(task.email, (list, tuple)) else ([task.email] if task.email else []),
        "mapped": mapped(task),
        "group": group.group_id if group is not None else None,
        "label": task.label,
        "display_name": task.task_display_name,
        "docs": {n: getattr(task, n) for n in ("doc", "doc_md", "doc_json", "doc_yaml", "doc_rst") if getattr(task, n)},
        "callbacks": {n: count(getattr(task, n)) for n in CALLBACKS if getattr(task, n)},
        "params": params(task.params),
        "inlets": [asset(a) for a in task.inlets],
        "outlets": [asset(a) for a in task.outlets],
    }
    for key in TASK_KEYS:
        if key not in form:
            # A mapped operator answers only what its partial arguments say.
            value = getattr(task, key) if hasattr(task, key) else task.partial_kwargs.get(key, UNSAID[key])
            form[key] = number(value)
    return form


def group_form(group) -> dict:
    return {
        "parent": group.parent_group.group_id if group.parent_group else None,
        "prefix_group_id": group.prefix_group_id,
        "tooltip": group.tooltip or "",
        "label": group.label,
        "display_name": group.group_display_name or group.label,
        "ui_color": group.ui_color,
        "ui_fgcolor": group.ui_fgcolor,
        "children": [child.node_id for child in group.children.values()],
        "upstream_group_ids": sorted(x for x in group.upstream_group_ids if x),
        "downstream_group_ids": sorted(x for x in group.downstream_group_ids if x),
        "upstream_task_ids": sorted(x for x in group.upstream_task_ids if x),
        "downstream_task_ids": sorted(x for x in group.downstream_task_ids if x),
        "mapped": expand(group._expand_input) if hasattr(group, "_expand_input") else None,
    }


def dag_form(dag) -> dict:
    groups = {str(gid): group_form(g) for gid, g in dag.task_group.get_task_group_dict().items()}
    labels = sorted([up, down, info["label"]] for up, downs in dag.edge_info.items() for down, info in downs.items())
    return {
        "dag_id": dag.dag_id,
        "display_name": dag.dag_display_name,
        "description": dag.description,
        "doc_md": dag.doc_md,
        "tags": sorted(dag.tags),
        "start_date": iso(dag.start_date),
        "end_date": iso(dag.end_date),
        "timezone": zone(dag.timezone),
        "catchup": dag.catchup,
        "max_active_tasks": dag.max_active_tasks,
        "max_active_runs": dag.max_active_runs,
        "max_consecutive_failed_dag_runs": dag.max_consecutive_failed_dag_runs,
        "dagrun_timeout": seconds(dag.dagrun_timeout),
        "is_paused_upon_creation": dag.is_paused_upon_creation,
        "fail_fast": dag.fail_fast,
        "render_template_as_native_obj": dag.render_template_as_native_obj,
        "owner_links": dag.owner_links,
        "has_on_success_callback": bool(dag.on_success_callback),
        "has_on_failure_callback": bool(dag.on_failure_callback),
        "deadlines": len(dag.deadline or []),
        "schedule": schedule(dag.timetable, dag),
        "params": params(dag.params),
        "param_order": list(dag.params),
        "tasks": {task.task_id: task_form(task) for task in dag.tasks},
        "task_order": [task.task_id for task in dag.tasks],
        "groups": groups,
        "labels": labels,
    }


def weights(dag, form) -> None:
    """The effective priorities come from the serialised DAG, which is what the scheduler uses."""
    from airflow.serialization.serialized_objects import DagSerialization

    serialised = DagSerialization.from_dict(DagSerialization.to_dict(dag))
    for task in serialised.tasks:
        rule = task.weight_rule
        if task.is_mapped:
            continue
        ti = type("TI", (), {"task": task})()
        form["tasks"][task.task_id]["priority_weight_total"] = number(rule.get_weight(ti))


def main(folder: str, output: str) -> None:
    from airflow.dag_processing.dagbag import DagBag

    os.makedirs(output, exist_ok=True)
    sys.path.insert(0, folder)
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".py"):
            continue
        bag = DagBag(dag_folder=os.path.join(folder, name), include_examples=False, safe_mode=False)
        forms = {}
        for dag_id in sorted(bag.dags):
            forms[dag_id] = dag_form(bag.dags[dag_id])
            try:
                weights(bag.dags[dag_id], forms[dag_id])
            except Exception as error:
                print(f"{name}: {dag_id}: no weights: {type(error).__name__}: {error}", file=sys.stderr)
        errors = {os.path.basename(k): v.strip().splitlines()[-1] for k, v in bag.import_errors.items()}
        for path, text in errors.items():
            print(f"{path}: {text}", file=sys.stderr)
        try:
            text = json.dumps(
                {"dags": forms, "errors": errors}, indent=1, sort_keys=True, ensure_ascii=False, default=str
            )
        except (TypeError, ValueError) as error:
            print(f"{name}: not written: {error}", file=sys.stderr)
            continue
        with open(os.path.join(output, name[:-3] + ".json"), "w", encoding="utf-8") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
