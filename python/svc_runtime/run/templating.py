"""Rendering template fields with Jinja2, natively or to text."""

from __future__ import annotations

import datetime
import os

from ..record.node import TaskNode

_FILTERS = {
    "ds": lambda value: value.strftime("%Y-%m-%d") if value else value,
    "ds_nodash": lambda value: value.strftime("%Y%m%d") if value else value,
    "ts": lambda value: value.isoformat() if value else value,
    "ts_nodash": lambda value: value.strftime("%Y%m%dT%H%M%S") if value else value,
    "ts_nodash_with_tz": lambda value: value.isoformat().replace("-", "").replace(":", "") if value else value,
}


def template_environment(task, dag):
    import jinja2
    from jinja2.nativetypes import NativeEnvironment
    from jinja2.sandbox import SandboxedEnvironment

    native = getattr(task, "render_template_as_native_obj", None)
    if native is None:
        native = getattr(dag, "render_template_as_native_obj", False)
    paths = [os.path.dirname(dag.fileloc)] if dag is not None and dag.fileloc else []
    if dag is not None and dag.template_searchpath:
        paths += dag.template_searchpath
    options = {
        "loader": jinja2.FileSystemLoader(paths),
        "undefined": getattr(dag, "template_undefined", None) or jinja2.StrictUndefined,
        "extensions": ["jinja2.ext.do"],
        "cache_size": 0,
    }
    options.update(getattr(dag, "jinja_environment_kwargs", None) or {})
    environment = (NativeEnvironment if native else SandboxedEnvironment)(**options)
    environment.filters.update(_FILTERS)
    environment.globals.update(getattr(dag, "user_defined_macros", None) or {})
    environment.filters.update(getattr(dag, "user_defined_filters", None) or {})
    return environment


def render_fields(owner, context, environment=None) -> None:
    if environment is None:
        task = owner if isinstance(owner, TaskNode) else None
        environment = template_environment(task, context.get("dag") if hasattr(context, "get") else None)
    for name in owner.template_fields:
        value = getattr(owner, name, None)
        if value is not None:
            setattr(owner, name, render_value(owner, value, context, environment))


def render_value(owner, value, context, environment=None):
    if environment is None:
        environment = template_environment(owner, getattr(owner, "dag", None))
    if isinstance(value, str):
        if value.endswith(tuple(getattr(owner, "template_ext", ()) or ("\0",))):
            return environment.get_template(value).render(context)
        return environment.from_string(value).render(context)
    if hasattr(value, "resolve") and hasattr(value, "iter_references"):
        return value.resolve(context)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(render_value(owner, item, context, environment) for item in value))
    if isinstance(value, (list, tuple, set)):
        return type(value)(render_value(owner, item, context, environment) for item in value)
    if isinstance(value, dict):
        return {key: render_value(owner, item, context, environment) for key, item in value.items()}
    if isinstance(value, (int, float, bool, datetime.datetime, datetime.timedelta)):
        return value
    if hasattr(value, "template_fields") and not isinstance(value, (type, TaskNode)):
        render_fields(value, context, environment)
    return value


def resolve_files(task) -> None:
    """Replaces field values that name a template file by the file's text, as Airflow does before rendering."""
    if not task.template_ext:
        return
    environment = template_environment(task, task.dag)
    for name in task.template_fields:
        value = getattr(task, name, None)
        if isinstance(value, str) and value.endswith(tuple(task.template_ext)):
            setattr(task, name, environment.loader.get_source(environment, value)[0])
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, str) and item.endswith(tuple(task.template_ext)):
                    value[index] = environment.loader.get_source(environment, item)[0]
    task.prepare_template()
