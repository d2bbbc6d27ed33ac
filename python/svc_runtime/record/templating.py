"""Rendering template fields with Jinja2, natively or to text."""

from __future__ import annotations

import datetime
import functools
import os

from .node import TaskNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FILTERS = {
    "ds": lambda value: value.strftime("%Y-%m-%d") if value else value,
    "ds_nodash": lambda value: value.strftime("%Y%m%d") if value else value,
    "ts": lambda value: value.isoformat() if value else value,
    "ts_nodash": lambda value: value.strftime("%Y%m%dT%H%M%S") if value else value,
    "ts_nodash_with_tz": lambda value: value.isoformat().replace("-", "").replace(":", "") if value else value,
}


# Template files of the version, by the name fields use: what was registered wins over what the disk holds by now.
version_files: dict[str, str] = {}


@functools.cache
def _sandboxed():
    from jinja2.sandbox import SandboxedEnvironment, is_internal_attribute

    class Sandboxed(SandboxedEnvironment):
        def is_safe_attribute(self, obj, attr, value) -> bool:
            """As on Airflow, names with one underscore are allowed: `row._asdict()`."""
            return not is_internal_attribute(obj, attr)

    return Sandboxed


def template_environment(task, dag, native: bool | None = None):
    import jinja2
    from jinja2.nativetypes import NativeEnvironment

    if native is None:
        native = getattr(task, "render_template_as_native_obj", None)
    if native is None:
        native = getattr(dag, "render_template_as_native_obj", False)
    paths = [os.path.dirname(dag.fileloc)] if dag is not None and dag.fileloc else []
    if dag is not None and dag.template_searchpath:
        paths += dag.template_searchpath
    options: dict[str, Any] = {
        "loader": jinja2.ChoiceLoader([jinja2.DictLoader(version_files), jinja2.FileSystemLoader(paths)]),
        "undefined": getattr(dag, "template_undefined", None) or jinja2.StrictUndefined,
        "extensions": ["jinja2.ext.do"],
        "cache_size": 0,
    }
    options.update(getattr(dag, "jinja_environment_kwargs", None) or {})
    environment = (NativeEnvironment if native else _sandboxed())(**options)
    environment.filters.update(_FILTERS)
    environment.globals.update(getattr(dag, "user_defined_macros", None) or {})
    environment.filters.update(getattr(dag, "user_defined_filters", None) or {})
    return environment


class _Shared:
    """An environment of a DAG, with what was compiled in it. Made once for all tasks of a version: children of the fork server
    have it by the fork. Authors get environments of their own (get_template_env), which they may change."""

    def __init__(self, dag, environment) -> None:
        self.dag = dag
        self.environment = environment
        self.templates: dict[str, Any] = {}


_shared: dict[tuple, _Shared] = {}
_MOST_TEMPLATES = 5_000


def _shared_for(task, dag) -> _Shared:
    native = getattr(task, "render_template_as_native_obj", None)
    if native is None:
        native = getattr(dag, "render_template_as_native_obj", False)
    key = (id(dag), bool(native))
    known = _shared.get(key)
    if known is None or known.dag is not dag:
        known = _shared[key] = _Shared(dag, template_environment(task, dag, native))
    return known


def prepare_templates(task) -> None:
    """Compiles what every attempt of the task would compile anew. What is no template fails in the attempt."""
    import jinja2

    renderer = Renderer({}, dag=task.dag, task=task)
    arguments = task.partial_kwargs if task.is_mapped else task.__dict__
    fields = getattr(task, "template_fields", ())
    for text in _texts_in([arguments.get(name) for name in fields]):
        try:
            renderer.prepare(task, text)
        except (jinja2.TemplateError, OSError):
            continue


def _texts_in(values):
    for value in values:
        if isinstance(value, str):
            yield value
        elif type(value) is dict:
            yield from _texts_in(value.values())
        elif type(value) in (list, tuple, set):
            yield from _texts_in(value)


class Renderer:
    """Renders values for one owner (an operator, a notifier, an object inside a field)."""

    def __init__(self, context, *, dag=None, task=None, environment=None) -> None:
        self._context = context
        self._dag = dag
        self._task = task
        self._environment = environment
        self._templates: dict[str, Any] = {}
        native = getattr(task, "render_template_as_native_obj", None)
        if native is None:
            native = getattr(dag, "render_template_as_native_obj", False)
        # Text without a brace or a line break renders to itself, so most fields never need Jinja (about 0.4 ms).
        # Not so natively, where "1" becomes a number, nor when the author changed Jinja's syntax.
        self._skips_plain_text = not (environment or native or getattr(dag, "jinja_environment_kwargs", None))

    @property
    def environment(self):
        if self._environment is None:
            if self._dag is None:
                self._environment = template_environment(self._task, self._dag)
            else:
                shared = _shared_for(self._task, self._dag)
                self._environment, self._templates = shared.environment, shared.templates
        return self._environment

    def _template(self, text: str):
        environment = self.environment
        found = self._templates.get(text)
        if found is None:
            found = environment.from_string(text)
            if len(self._templates) < _MOST_TEMPLATES:
                self._templates[text] = found
        return found

    def prepare(self, owner, text: str) -> None:
        extensions = getattr(owner, "template_ext", ())
        if extensions and text.endswith(tuple(extensions)):
            text = self.environment.loader.get_source(self.environment, text)[0]
        if not self._is_plain(text):
            self._template(text)

    def fields(self, owner) -> None:
        kept = owner.__dict__.get("svc_not_templates") or ()
        for name in owner.template_fields:
            value = getattr(owner, name, None)
            # Natively, Jinja would render empty text to None.
            if (
                value is None
                or (isinstance(value, str) and not value)
                or (kept and any(value is item for item in kept))
            ):
                continue
            # As on Airflow, a function in place of a template makes the value. Inside of lists and dicts it stays as it is.
            if callable(value):
                setattr(owner, name, value(context=self._context, jinja_env=self.environment))
            else:
                setattr(owner, name, self.value(owner, value))

    def value(self, owner, value):
        if isinstance(value, str):
            return self._text(owner, value)
        if isinstance(value, _PLAIN):
            return value
        # The usual containers at once: asking them what else they might be costs more than what is in them.
        if type(value) is dict:
            rendered = {}
            for key, item in value.items():
                rendered[key] = self.value(owner, item)
            return rendered
        if type(value) is tuple and not value:
            return value
        if hasattr(value, "resolve") and hasattr(value, "iter_references"):
            resolved = value.resolve(self._context)
            return resolved.or_none() if hasattr(resolved, "or_none") else resolved
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*(self.value(owner, item) for item in value))
        if isinstance(value, (list, tuple, set)):
            return type(value)(self.value(owner, item) for item in value)
        if isinstance(value, dict):
            return {key: self.value(owner, item) for key, item in value.items()}
        if hasattr(value, "template_fields") and not isinstance(value, (type, TaskNode)):
            self.fields(value)
        if hasattr(type(value), "svc_rendered"):
            return value.svc_rendered(lambda text: self._text(None, text))
        return value

    def _text(self, owner, value: str):
        extensions = getattr(owner, "template_ext", ())
        if extensions and value.endswith(tuple(extensions)):
            return self.environment.get_template(value).render(self._context)
        return value if self._is_plain(value) else self._template(value).render(self._context)

    def _is_plain(self, text: str) -> bool:
        return self._skips_plain_text and "{" not in text and "\n" not in text and "\r" not in text


_PLAIN = (int, float, bool, datetime.datetime, datetime.timedelta)


def render_fields(owner, context, environment=None) -> None:
    dag = context.get("dag") if hasattr(context, "get") else None
    task = owner if isinstance(owner, TaskNode) else None
    Renderer(context, dag=dag, task=task, environment=environment).fields(owner)


def render_value(owner, value, context, environment=None):
    return Renderer(context, dag=getattr(owner, "dag", None), task=owner, environment=environment).value(owner, value)


def render_text(text: str, context, task, dag) -> str:
    """A template that is always text, even in a DAG with native rendering."""
    environment = template_environment(task, dag, native=False)
    return environment.from_string(text).render(context)


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
