"""One task → its entry in `tasks`. Plain and mapped tasks give the same keys."""

from __future__ import annotations

import os

from ..exceptions import RecordingError
from ..record.assets import BaseAsset
from ..record.base_args import BASE_DEFAULTS, CALLBACKS, PLACEMENT
from ..record.notset import NOTSET
from ..record.operator import BaseOperatorLink
from ..record.timezones import iso
from ..record.weights import own_weight, strategy_name
from .encode import Encoder, seconds, whole
from .params_spec import params_spec
from .start_trigger_spec import start_trigger_spec

_CALLBACK_KEYS = {name: name.removesuffix("_callback") for name in CALLBACKS}
_DOCS = ("doc", "doc_md", "doc_json", "doc_yaml", "doc_rst")
_SENSOR_KEYS = (
    "poke_interval",
    "timeout",
    "soft_fail",
    "mode",
    "exponential_backoff",
    "max_wait",
    "silent_fail",
    "never_fail",
)


def _resources(given):
    """Amounts as a dict, also where an author gives `Resources`."""
    return given.to_dict() if hasattr(given, "to_dict") else given


def _duration(value):
    return None if value is None else seconds(value)


# What svc.yaml may say as well.
_ALSO_IN_PROJECT = ("retries", "retry_delay", "execution_timeout")


def stated_settings(task) -> list[str]:
    """Those the DAG file gives: as an argument, in default_args, or by assigning the attribute later."""
    if task.is_mapped:
        given = set(task.partial_kwargs)
    else:
        given = {*task._svc_init_kwargs, *task.__dict__["_svc_defaults"]}
    return [name for name in _ALSO_IN_PROJECT if name in given or getattr(task, name) != BASE_DEFAULTS[name]]


def _policy(task) -> dict:
    """The arguments the scheduler acts on, defaults resolved, durations in seconds."""
    return {
        "owner": task.owner,
        "email": [str(item) for item in task.email]
        if isinstance(task.email, (list, tuple, set))
        else ([task.email] if task.email else []),
        "email_on_retry": bool(task.email_on_retry),
        "email_on_failure": bool(task.email_on_failure),
        "retries": task.retries,
        "retry_delay": _duration(task.retry_delay),
        # True is the older spelling of the factor 2.
        "retry_exponential_backoff": 2
        if task.retry_exponential_backoff is True
        else (task.retry_exponential_backoff or 0),
        "max_retry_delay": _duration(task.max_retry_delay),
        "start_date": iso(task.start_date),
        "end_date": iso(task.end_date),
        "depends_on_past": bool(task.depends_on_past),
        "ignore_first_depends_on_past": bool(task.ignore_first_depends_on_past),
        "wait_for_past_depends_before_skipping": bool(task.wait_for_past_depends_before_skipping),
        "wait_for_downstream": bool(task.wait_for_downstream),
        "priority_weight": task.priority_weight,
        **_weight_rule(task),
        "queue": task.queue,
        "pool": task.pool,
        "pool_slots": task.pool_slots,
        "execution_timeout": _duration(task.execution_timeout),
        "trigger_rule": str(task.trigger_rule),
        "run_as_user": task.run_as_user,
        "max_active_tis_per_dag": task.max_active_tis_per_dag,
        "max_active_tis_per_dagrun": task.max_active_tis_per_dagrun,
        "executor": task.executor,
        "do_xcom_push": bool(task.do_xcom_push),
        "multiple_outputs": bool(task.multiple_outputs),
        "map_index_template": task.map_index_template,
        "allow_nested_operators": bool(task.allow_nested_operators),
        "render_template_as_native_obj": task.render_template_as_native_obj,
    }


def _weight_rule(task) -> dict:
    rule = task.weight_rule
    if isinstance(rule, str):
        return {"weight_rule": str(rule)}
    return {"weight_rule": "absolute", "own_weight": {"class": strategy_name(rule), "weight": own_weight(task)}}


def _operator(task) -> dict:
    operator_class = task.operator_class
    links = [link for link in task.operator_extra_links or () if getattr(link, "name", "")]
    made = [link for link in links if getattr(type(link), "get_link", None) not in (None, BaseOperatorLink.get_link)]
    keys = {"link_keys": {str(link.name): str(link.xcom_key) for link in made}} if made else {}
    return {
        **keys,
        "module": operator_class.__module__,
        "name": operator_class.__qualname__,
        "task_type": task.task_type,
        "operator_name": task.operator_name,
        "ui_color": task.ui_color,
        "ui_fgcolor": task.ui_fgcolor,
        "extra_links": sorted(str(link.name) for link in links),
        "is_sensor": bool(getattr(operator_class, "_is_sensor", False)),
        "is_empty": _is_empty(task),
        "skips_downstream": bool(getattr(operator_class, "inherits_from_skipmixin", False)),
        "recorded_only": bool(task.svc_foreign),
    }


def _is_empty(task) -> bool:
    """An empty task that has nothing to do before or after is finished without starting a process."""
    hooks = task._svc_hooks
    busy = task.on_execute_callback or task.on_success_callback or hooks["pre_execute"] or hooks["post_execute"]
    return bool(task.inherits_from_empty_operator) and not busy and not task.outlets


def _arguments(task, encoder: Encoder) -> dict:
    """Constructor arguments beyond the common ones, as written (default_args filled in)."""
    given = task.partial_kwargs if task.is_mapped else task._svc_init_kwargs
    return {
        name: encoder.encode(value)
        for name, value in given.items()
        if name not in BASE_DEFAULTS and name not in PLACEMENT and name not in _SENSOR_KEYS and value is not NOTSET
    }


def _templates(task, encoder: Encoder) -> dict | None:
    """Values of template fields before rendering; what the UI shows for a task that has not run."""
    if task.is_mapped:
        given = task.partial_kwargs
        return {name: encoder.encode(given[name]) for name in task.template_fields if given.get(name) is not None}
    values = {}
    for name in task.template_fields:
        if not hasattr(task, name) and not task.svc_foreign:
            raise RecordingError(
                f"task '{task.task_id}': template field {name!r} is not an attribute of {task.task_type}",
                f"Set self.{name} in __init__, or remove it from template_fields",
            )
        value = getattr(task, name, None)
        if value is not None and value is not NOTSET:
            values[name] = encoder.encode(value)
    return values


def _template_files(task, search_path: list, files: dict, warn) -> list:
    """Field values that name a file: the text goes into the artifact, so that a version never changes."""
    extensions = tuple(task.template_ext or ())
    found: list = []
    if not extensions:
        return found
    given = task.partial_kwargs if task.is_mapped else task.__dict__
    for field in task.template_fields:
        value = given.get(field)
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if not isinstance(item, str) or not item.endswith(extensions):
                continue
            text = _read_template(item, search_path)
            if text is None:
                warn(
                    f"task '{task.task_id}': {field} ends with {os.path.splitext(item)[1]!r} and is read as a template "
                    f"file, but {item!r} was not found; add a space at the end if it is a command"
                )
                continue
            files[item] = text
            found.append({"field": field, "path": item})
    return found


def _read_template(name: str, search_path: list) -> str | None:
    for folder in search_path:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    return None


def _mapping(task, encoder: Encoder) -> dict | None:
    return expand_spec(task.expand_input, encoder, task.expands_function_arguments) if task.is_mapped else None


def expand_spec(expand_input, encoder: Encoder, function_arguments: bool = False) -> dict:
    """Arguments stay a list: their order decides the map indexes of a cross product."""
    spec = {"kind": expand_input.kind, "target": "function" if function_arguments else "operator"}
    if expand_input.kind == "expand":
        spec["arguments"] = [
            {"name": name, "value": _listed(encoder, value), "length": _length(value)}
            for name, value in expand_input.value.items()
        ]
    else:
        value = expand_input.value
        spec["value"] = encoder.encode(list(value) if isinstance(value, (list, tuple)) else value)
        spec["length"] = _length(value)
    spec["depends_on"] = sorted({operator.task_id for operator, _ in expand_input.iter_references()})
    return spec


def _listed(encoder: Encoder, value):
    """A literal dict is expanded over its items in order, so it is written as pairs."""
    if isinstance(value, dict):
        return {"__type": "dict", "items": [[encoder.encode(k), encoder.encode(v)] for k, v in value.items()]}
    return encoder.encode(list(value) if isinstance(value, tuple) else value)


def _length(value) -> int | None:
    """Known for literals, unknown until run time for references."""
    return len(value) if isinstance(value, (list, tuple, dict)) else None


def _assets(values, encoder: Encoder) -> list:
    return [
        encoder.asset(value) if isinstance(value, BaseAsset) else {"type": "other", "value": encoder.encode(value)}
        for value in values
    ]


def task_spec(task, encoder: Encoder, *, search_path: list, files: dict, warn) -> dict:
    callbacks = {
        short: [encoder.callback(item) for item in getattr(task, name)] for name, short in _CALLBACK_KEYS.items()
    }
    hooks = {name: encoder.callback(hook) for name, hook in task._svc_hooks.items() if hook is not None}
    for name, hook in task._svc_hooks.items():
        kind = getattr(hook, "svc_condition", None)
        if kind:
            hooks[name]["condition"] = kind
    return {
        "task_id": task.task_id,
        "label": task.label,
        "display_name": task.task_display_name,
        "group_id": task.task_group.group_id if task.task_group is not None else None,
        "operator": _operator(task),
        "arguments": _arguments(task, encoder),
        "template_fields": None if task.svc_foreign and not task.template_fields else list(task.template_fields),
        "template_fields_renderers": dict(task.template_fields_renderers or {}),
        "templates": _templates(task, encoder),
        "template_files": _template_files(task, search_path, files, warn),
        "policy": {name: whole(value) for name, value in _policy(task).items()},
        "sensor": _sensor(task),
        **start_trigger_spec(task),
        "resources": encoder.encode(_resources(task.resources)) if task.resources else None,
        # Filled from svc.yaml when the project has one.
        "env": {},
        "execution": None,
        "executor_config": encoder.encode(task.executor_config or {}),
        "upstream_task_ids": sorted(task.upstream_task_ids),
        "downstream_task_ids": sorted(task.downstream_task_ids),
        "is_setup": bool(task.is_setup),
        "is_teardown": bool(task.is_teardown),
        "on_failure_fail_dagrun": bool(task.on_failure_fail_dagrun),
        "mapping": _mapping(task, encoder),
        "inlets": _assets(task.inlets, encoder),
        "outlets": _assets(task.outlets, encoder),
        "params": params_spec(task.params, encoder, "task"),
        "callbacks": {name: items for name, items in callbacks.items() if items},
        "hooks": hooks,
        "docs": {name: getattr(task, name) or None for name in _DOCS},
    }


def _sensor(task) -> dict | None:
    if not getattr(task.operator_class, "_is_sensor", False):
        return None
    if task.is_mapped:
        defaults = {
            "poke_interval": 60,
            "timeout": 604800,
            "soft_fail": False,
            "mode": "poke",
            "exponential_backoff": False,
            "max_wait": None,
            "silent_fail": False,
            "never_fail": False,
        }
        values = {name: task.partial_kwargs.get(name, default) for name, default in defaults.items()}
    else:
        values = {name: getattr(task, name) for name in _SENSOR_KEYS}
    for name in ("poke_interval", "timeout", "max_wait"):
        if hasattr(values[name], "total_seconds"):
            values[name] = seconds(values[name])
    return {name: whole(value) for name, value in values.items()}
