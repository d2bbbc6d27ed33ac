"""`@task`: a function that becomes an operator when called, and the factory all its flavours share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence

from . import current
from .expand import (
    DictOfListsExpandInput,
    ListOfDictsExpandInput,
    check_expand_kwargs,
    check_expand_list,
)
from .group import unique_id
from .mapped import MappedOperator, make_partial
from .notset import NOTSET
from .operator import BaseOperator
from .setup_teardown import mark_setup, mark_teardown
from .xcomarg import XComArg

# Names a function may ask for; Airflow fills them from the run's context.
CONTEXT_KEYS = frozenset(
    "conn dag dag_run data_interval_end data_interval_start ds ds_nodash end_date exception expanded_ti_count "
    "inlet_events inlets logical_date macros map_index_template outlet_events outlets params partition_date "
    "prev_data_interval_end_success prev_data_interval_start_success prev_end_date_success "
    "prev_start_date_success reason run_id start_date task task_instance task_instance_key_str task_reschedule_count "
    "templates_dict test_mode ti triggering_asset_events triggering_dataset_events ts ts_nodash "
    "ts_nodash_with_tz try_number var "
    # Of Airflow 2: see run/old_context.py.
    "execution_date prev_execution_date_success tomorrow_ds tomorrow_ds_nodash yesterday_ds yesterday_ds_nodash".split()
)


def infer_multiple_outputs(function) -> bool:
    """True when the return annotation is a mapping; an annotation that cannot be resolved means no."""
    annotation = getattr(function, "__annotations__", {}).get("return", None)
    if annotation is None:
        return False
    import typing  # costs every child of a server that has it some memory to share

    if isinstance(annotation, str):
        try:
            annotation = typing.get_type_hints(function).get("return", None)
        except Exception:  # any failing annotation is only a hint lost
            return False
    origin = typing.get_origin(annotation) or annotation
    return isinstance(origin, type) and issubclass(origin, Mapping)


def unique_task_id(task_id: str, dag, group) -> str:
    """Calling the same @task twice gives `f` and `f__1`."""
    if dag is None:
        return task_id
    full = group.child_id(task_id) if group is not None else task_id
    if full not in dag.task_dict and full not in dag.task_group.used_group_ids:
        return task_id
    prefix = full[: len(full) - len(task_id)]
    taken = {known[len(prefix) :] for known in dag.task_dict if known.startswith(prefix)}
    taken |= {known[len(prefix) :] for known in dag.task_group.used_group_ids if known and known.startswith(prefix)}
    return unique_id(task_id, taken)


def check_callable_signature(function) -> inspect.Signature:
    signature = inspect.signature(function)
    for name, parameter in signature.parameters.items():
        if name in CONTEXT_KEYS and parameter.default not in (None, parameter.empty):
            raise ValueError(f"Context key parameter {name} can't have a default other than None")
    return signature


def bind_arguments(signature: inspect.Signature, args, kwargs) -> None:
    """Fails like a normal call would; context names may be left out."""
    parameters = [
        parameter.replace(default=None) if name in CONTEXT_KEYS and parameter.default is parameter.empty else parameter
        for name, parameter in signature.parameters.items()
    ]
    seen_default = False
    fixed = []
    for parameter in parameters:
        positional = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        if positional and parameter.default is not parameter.empty:
            seen_default = True
        elif positional and seen_default:
            # After a context name that got a default, later ones need one too for the signature to be legal.
            fixed.append(parameter.replace(default=NOTSET))
            continue
        fixed.append(parameter)
    bound = signature.replace(parameters=fixed).bind(*args, **kwargs)
    bound.apply_defaults()
    for name, value in bound.arguments.items():
        if value is NOTSET and signature.parameters[name].default is inspect.Parameter.empty:
            raise TypeError(f"missing a required argument: {name!r}")


class DecoratedOperator(BaseOperator):
    """Mixed in front of a real operator class; keeps the function and its arguments."""

    template_fields: Sequence[str] = ("op_args", "op_kwargs")
    template_fields_renderers = {"op_args": "py", "op_kwargs": "py"}
    custom_operator_name = "@task"

    def __init__(
        self, *, python_callable, task_id: str, op_args=None, op_kwargs=None, kwargs_to_upstream=None, **kwargs
    ) -> None:
        if not getattr(self, "_svc_detached", False):
            dag, group = self.__dict__["_svc_placement"]
            task_id = unique_task_id(task_id, dag, group)
        self.python_callable = python_callable
        self.op_args = op_args or ()
        self.op_kwargs = op_kwargs or {}
        bind_arguments(check_callable_signature(python_callable), self.op_args, self.op_kwargs)
        super().__init__(task_id=task_id, **(kwargs_to_upstream or {}), **kwargs)


class TaskDecorator:
    """What `@task` puts in the place of a function."""

    svc_task_decorator = True

    def __init__(self, function, operator_class, kwargs: dict, multiple_outputs: bool | None) -> None:
        if inspect.isclass(function):
            raise TypeError("@task decorates functions, not classes")
        if "self" in inspect.signature(function).parameters:
            raise TypeError(f"@{operator_class.custom_operator_name or 'task'} does not support methods")
        functools.update_wrapper(self, function)
        self.function = function
        self.operator_class = operator_class
        self.kwargs = dict(kwargs)
        self.kwargs.setdefault("task_id", function.__name__)
        given = kwargs.get("multiple_outputs", multiple_outputs)
        self.multiple_outputs = infer_multiple_outputs(function) if given is None else given
        self.is_setup = False
        self.is_teardown = False
        self.on_failure_fail_dagrun = False
        self.returns_dag_result = False

    def _options(self) -> dict:
        # Always given: operators of providers take it out of their arguments.
        return {**self.kwargs, "multiple_outputs": bool(self.multiple_outputs)}

    def _mark(self, operator) -> None:
        operator.returns_dag_result = self.returns_dag_result
        if self.is_setup:
            mark_setup(operator)
        if self.is_teardown:
            mark_teardown(operator, on_failure_fail_dagrun=self.on_failure_fail_dagrun)

    def __call__(self, *args, **kwargs):
        if self.is_teardown and "trigger_rule" in self.kwargs:
            raise ValueError("Trigger rule not configurable for teardown tasks.")
        operator = self.operator_class(python_callable=self.function, op_args=args, op_kwargs=kwargs, **self._options())
        self._mark(operator)
        if self.function.__doc__ and not operator.doc_md:
            operator.doc_md = self.function.__doc__
        return XComArg(operator)

    @property
    def __wrapped__(self):
        return self.function

    @__wrapped__.setter
    def __wrapped__(self, value) -> None:
        """update_wrapper assigns this; the function is already kept."""

    def override(self, **kwargs) -> TaskDecorator:
        multiple_outputs = kwargs.pop("multiple_outputs", self.multiple_outputs)
        copy = TaskDecorator(self.function, self.operator_class, {**self.kwargs, **kwargs}, multiple_outputs)
        copy.is_setup, copy.is_teardown = self.is_setup, self.is_teardown
        copy.returns_dag_result = self.returns_dag_result
        copy.on_failure_fail_dagrun = kwargs.get("on_failure_fail_dagrun", self.on_failure_fail_dagrun)
        return copy

    def partial(self, **kwargs) -> TaskDecorator:
        self._check_names("partial", kwargs)
        fixed = self.kwargs.get("op_kwargs", {})
        repeated = [name for name in kwargs if name in fixed]
        if repeated:
            raise TypeError(f"partial() got multiple values for argument {repeated[0]!r}")
        copy = self.override()
        copy.kwargs["op_kwargs"] = {**fixed, **kwargs}
        return copy

    def expand(self, **map_kwargs):
        if self.kwargs.get("trigger_rule") == "always" and any(
            isinstance(value, XComArg) for value in map_kwargs.values()
        ):
            raise ValueError(
                "Task-generated mapping within a task using 'expand' is not allowed with trigger rule 'always'."
            )
        if not map_kwargs:
            raise TypeError("no arguments to expand against")
        self._check_names("expand", map_kwargs)
        fixed = self.kwargs.get("op_kwargs", {})
        repeated = [name for name in map_kwargs if name in fixed]
        if repeated:
            raise TypeError(f"expand() got multiple values for argument {repeated[0]!r}")
        check_expand_kwargs("expand", map_kwargs)
        return self._expand(DictOfListsExpandInput(map_kwargs))

    def expand_kwargs(self, kwargs, *, strict: bool = True):
        check_expand_list(kwargs)
        return self._expand(ListOfDictsExpandInput(kwargs), strict=strict)

    def _check_names(self, function: str, names) -> None:
        signature = check_callable_signature(self.function)
        if any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
            return
        for name in names:
            if name not in signature.parameters:
                raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")

    def _expand(self, expand_input, *, strict: bool = False):
        options = self._options()
        task_id = options.pop("task_id")
        dag = options.pop("dag", None) or current.current_dag()
        group = options.pop("task_group", None)
        if group is None and dag is not None:
            group = current.current_group(dag)
        if dag is None and group is not None:
            dag = group.dag
        op_kwargs = options.pop("op_kwargs", {})
        partial = make_partial(
            self.operator_class,
            task_id=unique_task_id(task_id, dag, group),
            dag=dag,
            task_group=group,
            kwargs={**options, "python_callable": self.function, "op_args": (), "op_kwargs": op_kwargs},
        )
        operator = MappedOperator(partial=partial, expand_input=expand_input, function_input=True, strict=strict)
        self._mark(operator)
        if self.function.__doc__ and not operator.doc_md:
            operator.doc_md = self.function.__doc__
        return XComArg(operator)


def task_decorator_factory(
    python_callable=None, *, multiple_outputs: bool | None = None, decorated_operator_class, **kwargs
):
    """Serves `@task.x` and `@task.x(...)` alike."""
    if python_callable is not None and not callable(python_callable):
        raise TypeError("No args allowed while using @task, use kwargs instead")
    if python_callable is not None:
        return TaskDecorator(python_callable, decorated_operator_class, kwargs, multiple_outputs)

    def decorate(function):
        return TaskDecorator(function, decorated_operator_class, kwargs, multiple_outputs)

    return decorate
