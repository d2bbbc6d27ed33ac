"""BaseOperator and the wrapping of `__init__` that makes DAG files work.

Each class's own `__init__` is wrapped once. The wrapper (1) refuses positional arguments, (2) fills missing
arguments from default_args, at every level of the class chain, because an author's subclass may pass on only
some of them, (3) on the outermost call remembers the arguments as written and, afterwards, turns XComArgs found
in template fields into edges.
"""

from __future__ import annotations

import abc
import functools
import inspect
import logging
from collections.abc import Sequence

from . import current, setup_teardown
from .base_args import BASE_DEFAULTS, CALLBACKS, PLACEMENT, merged_default_args, normalise, with_present_names
from .node import TaskNode, validate_key
from .notset import NOTSET
from .params import ParamsDict
from .templating import render_fields, render_value, resolve_files, template_environment


def own_parameters(init) -> dict:
    """Named parameters of one `__init__` (not *args/**kwargs), cached on the function."""
    cached = getattr(init, "_svc_parameters", None)
    if cached is None:
        parameters = inspect.signature(init).parameters
        cached = {
            name: parameter
            for name, parameter in parameters.items()
            if name != "self" and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        }
        init._svc_parameters = cached
    return cached


def _begin(task, kwargs: dict) -> None:
    """Outermost constructor call: settle DAG, group and default_args before anything else runs."""
    dag = kwargs.get("dag")
    group = kwargs.get("task_group")
    if dag is None and group is not None:
        dag = group.dag
    if dag is None and not task.__dict__.get("_svc_detached"):
        dag = current.current_dag()
    if group is None and dag is not None:
        group = current.current_group(dag)
    task.__dict__["_svc_defaults"] = merged_default_args(dag, group, kwargs.get("default_args"))
    task.__dict__["_svc_placement"] = (dag, group)
    task.__dict__["_svc_init_kwargs"] = {}


def _wrap_init(init):
    if getattr(init, "_svc_wrapped", False):
        return init
    parameters = own_parameters(init)
    required = [
        name for name, parameter in parameters.items() if parameter.default is parameter.empty and name != "task_id"
    ]

    @functools.wraps(init)
    def wrapper(self, *args, **kwargs):
        if args:
            raise TypeError("Use keyword arguments when initializing operators")
        outermost = "_svc_defaults" not in self.__dict__
        with_present_names(kwargs, own=parameters)
        if outermost:
            _begin(self, kwargs)
        defaults = self.__dict__["_svc_defaults"]
        for name in parameters:
            if name not in kwargs and name in defaults and name not in PLACEMENT:
                kwargs[name] = defaults[name]
        missing = [name for name in required if name not in kwargs]
        if missing:
            plural = "s" if len(missing) > 1 else ""
            raise TypeError(f"missing keyword argument{plural} {', '.join(repr(name) for name in missing)}")
        if outermost:
            self.__dict__["_svc_init_kwargs"] = dict(kwargs)
        init(self, **kwargs)
        if outermost:
            self._svc_finish_init()

    vars(wrapper).update(_svc_wrapped=True, _svc_parameters=parameters)
    return wrapper


class BaseOperatorMeta(abc.ABCMeta):
    """Wraps `__init__`, and gives `partial` the class it was called on."""

    def __new__(mcs, name, bases, namespace, **kwargs):
        init = namespace.get("__init__")
        # Recorded hooks share this metaclass (to mix with operators) but are called like any class.
        if init is not None and (name == "BaseOperator" or any(issubclass(base, TaskNode) for base in bases)):
            namespace["__init__"] = _wrap_init(init)
        return super().__new__(mcs, name, bases, namespace, **kwargs)


class BaseOperator(TaskNode, metaclass=BaseOperatorMeta):
    template_fields: Sequence[str] = ()
    template_ext: Sequence[str] = ()
    template_fields_renderers: dict = {}
    # Template fields that have no value before the body runs.
    svc_set_by_body: Sequence[str] = ()
    ui_color = "#fff"
    ui_fgcolor = "#000"
    operator_extra_links: Sequence = ()
    shallow_copy_attrs: Sequence[str] = ()
    supports_lineage = False
    inherits_from_skipmixin = False
    start_trigger_args: object = None
    start_from_trigger = False
    custom_operator_name: str | None = None
    # True for recorded provider classes: which fields are templates is known only at run time.
    svc_foreign = False
    logger_name: str | None
    _svc_init_kwargs: dict

    def __init__(
        self,
        *,
        task_id: str,
        owner=BASE_DEFAULTS["owner"],
        email=None,
        email_on_retry=True,
        email_on_failure=True,
        retries=0,
        retry_delay=BASE_DEFAULTS["retry_delay"],
        retry_exponential_backoff=0,
        max_retry_delay=None,
        retry_policy=None,
        start_date=None,
        end_date=None,
        depends_on_past=False,
        ignore_first_depends_on_past=False,
        wait_for_past_depends_before_skipping=False,
        wait_for_downstream=False,
        dag=None,
        params=None,
        default_args=None,
        priority_weight=1,
        weight_rule=BASE_DEFAULTS["weight_rule"],
        queue="default",
        pool=None,
        pool_slots=1,
        sla=None,
        execution_timeout=None,
        on_execute_callback=None,
        on_failure_callback=None,
        on_success_callback=None,
        on_retry_callback=None,
        on_skipped_callback=None,
        pre_execute=None,
        post_execute=None,
        trigger_rule=BASE_DEFAULTS["trigger_rule"],
        resources=None,
        run_as_user=None,
        map_index_template=None,
        max_active_tis_per_dag=None,
        max_active_tis_per_dagrun=None,
        executor=None,
        executor_config=None,
        do_xcom_push=True,
        multiple_outputs=False,
        inlets=None,
        outlets=None,
        task_group=None,
        doc=None,
        doc_md=None,
        doc_json=None,
        doc_yaml=None,
        doc_rst=None,
        task_display_name=None,
        logger_name=None,
        allow_nested_operators=True,
        render_template_as_native_obj=None,
        **kwargs,
    ) -> None:
        given = dict(locals())
        extra = self._svc_accept_extra(kwargs)
        if extra:
            raise TypeError(
                f"Invalid arguments were passed to {type(self).__name__} (task_id: {task_id}). "
                f"Invalid arguments were:\n**kwargs: {extra}"
            )
        dag, group = self.__dict__["_svc_placement"]
        validate_key(task_id)
        self.task_id = group.child_id(task_id) if group is not None else task_id
        self.upstream_task_ids = set()
        self.downstream_task_ids = set()
        args = normalise({name: given[name] for name in BASE_DEFAULTS}, self.task_id, dag)
        hooks = {"pre_execute": args.pop("pre_execute"), "post_execute": args.pop("post_execute")}
        self._svc_hooks = hooks
        self._task_display_name = args.pop("task_display_name")
        self.__dict__.update(args)
        self.params = ParamsDict.for_task(self.__dict__["_svc_defaults"].get("params"), params)
        self._svc_logger = None
        if group is not None:
            group.add(self)
            self.task_group = group
        if dag is not None:
            dag.add_task(self)
        setup_teardown.note_task(self)

    def _svc_accept_extra(self, kwargs: dict) -> dict:
        """Unknown arguments, all refused here; recorded provider classes take any."""
        return kwargs

    def _svc_finish_init(self) -> None:
        if self.__dict__.get("_svc_detached"):
            # The mapped task in the DAG has the edges. Looking for more would walk through all values of this instance.
            return
        from .xcomarg import link_references

        link_references(self, [getattr(self, name, None) for name in self.template_fields])
        if self.svc_foreign:
            link_references(self, [value for name, value in self._svc_init_kwargs.items() if name not in CALLBACKS])

    @property
    def task_type(self) -> str:
        return type(self).__name__

    @property
    def operator_name(self) -> str:
        return type(self).custom_operator_name or self.task_type

    @property
    def operator_class(self):
        return type(self)

    @property
    def task_display_name(self) -> str:
        return self._task_display_name or self.task_id

    @property
    def is_mapped(self) -> bool:
        return False

    @property
    def is_async(self) -> bool:
        return False

    @property
    def has_on_execute_callback(self) -> bool:
        return bool(vars(self).get("on_execute_callback"))

    @property
    def has_on_failure_callback(self) -> bool:
        return bool(vars(self).get("on_failure_callback"))

    @property
    def has_on_retry_callback(self) -> bool:
        return bool(vars(self).get("on_retry_callback"))

    @property
    def has_on_skipped_callback(self) -> bool:
        return bool(vars(self).get("on_skipped_callback"))

    @property
    def has_on_success_callback(self) -> bool:
        return bool(vars(self).get("on_success_callback"))

    @property
    def inherits_from_empty_operator(self) -> bool:
        return getattr(self, "_is_empty", False)

    @property
    def output(self):
        from .xcomarg import XComArg

        return XComArg(operator=self)

    @property
    def log(self) -> logging.Logger:
        name = self.logger_name or f"{type(self).__module__}.{type(self).__name__}"
        return logging.getLogger(f"airflow.task.operators.{name}")

    @property
    def priority_weight_total(self) -> int:
        from .weights import total_weight

        return total_weight(self)

    @classmethod
    def partial(cls, task_id: str, dag=None, task_group=None, **kwargs):
        from .mapped import make_partial

        return make_partial(cls, task_id=task_id, dag=dag, task_group=task_group, kwargs=kwargs)

    def as_setup(self):
        setup_teardown.mark_setup(self)
        return self

    def as_teardown(self, *, setups=None, on_failure_fail_dagrun=NOTSET):
        setup_teardown.mark_teardown(self, setups=setups, on_failure_fail_dagrun=on_failure_fail_dagrun)
        return self

    def __enter__(self):
        return setup_teardown.enter([self])

    def __exit__(self, exc_type, exc, traceback) -> None:
        setup_teardown.leave()

    def add_inlets(self, inlets) -> None:
        self.inlets.extend(inlets)

    def add_outlets(self, outlets) -> None:
        self.outlets.extend(outlets)

    # What a task body may override or call. The runner drives them; see svc_runtime/run.
    def execute(self, context):
        raise NotImplementedError(f"{type(self).__name__} has no execute()")

    def pre_execute(self, context) -> None:
        hook = self._svc_hooks["pre_execute"]
        if hook is not None:
            hook(context)

    def post_execute(self, context, result=None) -> None:
        hook = self._svc_hooks["post_execute"]
        if hook is not None:
            hook(context, result)

    def dry_run(self) -> None:
        """Logs the fields that may be templates, as they are written."""
        self.log.info("Dry run of %s", self.task_id)
        for field in self.template_fields:
            content = getattr(self, field, None)
            if isinstance(content, str) and content:
                self.log.info("%s: %s", field, content)

    def on_kill(self) -> None:
        """Called when the attempt is stopped from outside."""

    def prepare_template(self) -> None:
        """Called once before templates are rendered."""

    def render_template_fields(self, context, jinja_env=None) -> None:
        render_fields(self, context, jinja_env)

    def render_template(self, content, context, jinja_env=None, seen_oids=None):
        return render_value(self, content, context, jinja_env)

    def get_template_env(self, dag=None):
        return template_environment(self, dag or self.dag)

    def resolve_template_files(self) -> None:
        resolve_files(self)

    def defer(self, *, trigger, method_name: str, kwargs=None, timeout=None):
        from ..exceptions import TaskDeferred

        raise TaskDeferred(trigger=trigger, method_name=method_name, kwargs=kwargs, timeout=timeout)

    def resume_execution(self, next_method: str, next_kwargs: dict | None, context):
        """Goes on after a deferral; `__fail__` when its trigger failed or took too long."""
        from ..exceptions import TaskDeferralError, TaskDeferralTimeout

        next_kwargs = next_kwargs or {}
        if next_method == "__fail__":
            if next_kwargs.get("traceback") is not None:
                self.log.error("Trigger failed:\n%s", "\n".join(next_kwargs["traceback"]))
            error = next_kwargs.get("error", "Unknown")
            raise TaskDeferralTimeout(error) if error == "Trigger timeout" else TaskDeferralError(error)
        method = getattr(self, next_method, None)
        if method is None:
            raise TaskDeferralError(f"{type(self).__name__} has no method {next_method!r} to resume")
        return method(context, **next_kwargs)

    @staticmethod
    def xcom_push(context, key: str, value) -> None:
        context["ti"].xcom_push(key=key, value=value)

    @staticmethod
    def xcom_pull(context, task_ids=None, dag_id=None, key="return_value", **kwargs):
        return context["ti"].xcom_pull(task_ids=task_ids, dag_id=dag_id, key=key, **kwargs)

    def __repr__(self) -> str:
        return f"<Task({self.task_type}): {self.task_id}>"


class BaseAsyncOperator(BaseOperator):
    """An operator whose body is a coroutine; `aexecute` is awaited by `execute`."""

    @property
    def is_async(self) -> bool:
        return True

    async def aexecute(self, context):
        raise NotImplementedError()

    def execute(self, context):
        import asyncio

        return asyncio.run(self.aexecute(context))


class BaseOperatorLink:
    """Extra buttons in the UI; recorded by class, never called by the control plane."""

    name = ""
    operators: list = []

    @property
    def xcom_key(self) -> str:
        return f"_link_{type(self).__name__}"

    def get_link(self, operator, *, ti_key):
        raise NotImplementedError
