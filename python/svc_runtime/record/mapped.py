"""Mapped operators: a class, its fixed arguments and what it is expanded over. No instance exists at compile time.

`MappedOperator` answers the same attribute questions as a plain task, from `.partial()` arguments, default_args
and the class's defaults, so that the serializer needs no second path.
"""

from __future__ import annotations

from . import current, setup_teardown
from .base_args import BASE_DEFAULTS, CALLBACKS, PLACEMENT, merged_default_args, normalise, with_present_names
from .expand import (
    DictOfListsExpandInput,
    ListOfDictsExpandInput,
    check_expand_kwargs,
    check_expand_list,
)
from .node import TaskNode, validate_key
from .notset import NOTSET
from .params import ParamsDict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Arguments the scheduler must know before the task is expanded.
_UNMAPPABLE = frozenset(BASE_DEFAULTS) - {"inlets", "outlets", "doc", "doc_md"} | {
    "task_id",
    "dag",
    "task_group",
    "params",
    "default_args",
}


def known_arguments(operator_class) -> dict:
    """Every named constructor argument along the class chain, the nearest class winning."""
    found: dict = {}
    for klass in operator_class.__mro__:
        init = klass.__dict__.get("__init__")
        for name, parameter in getattr(init, "_svc_parameters", {}).items():
            found.setdefault(name, parameter)
    return found


def make_partial(operator_class, *, task_id: str, dag, task_group, kwargs: dict) -> OperatorPartial:
    dag = dag or (task_group.dag if task_group is not None else None) or current.current_dag()
    group = task_group or (current.current_group(dag) if dag is not None else None)
    with_present_names(kwargs)
    known = known_arguments(operator_class)
    if not operator_class.svc_foreign:
        unknown = [name for name in kwargs if name not in known and name not in BASE_DEFAULTS]
        if unknown:
            names = ", ".join(repr(name) for name in unknown)
            raise TypeError(f"{operator_class.__name__}.partial() got an unexpected keyword argument {names}")
    defaults = merged_default_args(dag, group, kwargs.pop("default_args", None))
    inherited_params = defaults.get("params")
    filled = {
        name: value
        for name, value in defaults.items()
        if (name in known or name in BASE_DEFAULTS) and name not in PLACEMENT
    }
    own_params = kwargs.pop("params", None)
    return OperatorPartial(
        operator_class,
        task_id=task_id,
        dag=dag,
        group=group,
        kwargs={**filled, **kwargs},
        given=dict(kwargs),
        params=ParamsDict.for_task(inherited_params, own_params),
    )


class OperatorPartial:
    def __init__(self, operator_class, *, task_id, dag, group, kwargs, given, params) -> None:
        validate_key(task_id)
        self.operator_class = operator_class
        self.task_id = task_id
        self.dag = dag
        self.group = group
        self.kwargs = kwargs
        self.given = given
        self.params = params

    def _check_names(self, function: str, names) -> None:
        known = known_arguments(self.operator_class)
        for name in names:
            if name in self.given or name in _UNMAPPABLE:
                raise TypeError(f"unmappable or already specified argument: {name}")
            if not self.operator_class.svc_foreign and name not in known:
                raise TypeError(
                    f"{self.operator_class.__name__}.{function}() got an unexpected keyword argument {name!r}"
                )

    def expand(self, **mapped_kwargs) -> MappedOperator:
        if not mapped_kwargs:
            raise TypeError("no arguments to expand against")
        check_expand_kwargs("expand", mapped_kwargs)
        self._check_names("expand", mapped_kwargs)
        return self._expand(DictOfListsExpandInput(mapped_kwargs), strict=False)

    def expand_kwargs(self, kwargs, *, strict: bool = True) -> MappedOperator:
        check_expand_list(kwargs)
        return self._expand(ListOfDictsExpandInput(kwargs), strict=strict)

    def _expand(self, expand_input, *, strict: bool) -> MappedOperator:
        return MappedOperator(partial=self, expand_input=expand_input, strict=strict)


class MappedOperator(TaskNode):
    def __init__(
        self, *, partial: OperatorPartial, expand_input, function_input: bool = False, strict: bool = False
    ) -> None:
        self.operator_class = partial.operator_class
        self.expand_input = expand_input
        # True for @task functions: what is expanded are the function's arguments, not the operator's.
        self.expands_function_arguments = function_input
        # Items of expand_kwargs() may not give an argument that is given already; what they give is known only at run time.
        self._svc_strict = strict
        # The operator of the next instance, made ahead (see `prepare_unmap`).
        self._svc_prepared: Any = None
        self.task_group = partial.group
        self.task_id = partial.group.child_id(partial.task_id) if partial.group is not None else partial.task_id
        self.upstream_task_ids = set()
        self.downstream_task_ids = set()
        self.params = partial.params
        self.partial_kwargs = {k: v for k, v in partial.kwargs.items() if k not in PLACEMENT}
        self.given_kwargs = partial.given
        args = {**BASE_DEFAULTS, **{k: v for k, v in partial.kwargs.items() if k in BASE_DEFAULTS}}
        args = normalise(args, self.task_id, partial.dag)
        self._svc_hooks = {"pre_execute": args.pop("pre_execute"), "post_execute": args.pop("post_execute")}
        self._task_display_name = args.pop("task_display_name")
        self.__dict__.update(args)
        if partial.group is not None:
            partial.group.add(self)
        if partial.dag is not None:
            partial.dag.add_task(self)
        from .xcomarg import link_references

        given = [value for name, value in partial.kwargs.items() if self._links(name)]
        link_references(self, [*expand_input.iter_values(), *given])
        setup_teardown.note_task(self)

    def _links(self, name: str) -> bool:
        """Which arguments of partial() make upstream tasks. The template fields of a class that is not installed are unknown."""
        return name in self.template_fields or (self.svc_foreign and name not in CALLBACKS)

    template_fields = property(lambda self: self.operator_class.template_fields)
    template_ext = property(lambda self: self.operator_class.template_ext)
    template_fields_renderers = property(lambda self: self.operator_class.template_fields_renderers)
    ui_color = property(lambda self: self.operator_class.ui_color)
    ui_fgcolor = property(lambda self: self.operator_class.ui_fgcolor)
    operator_extra_links = property(lambda self: self.operator_class.operator_extra_links)
    svc_foreign = property(lambda self: self.operator_class.svc_foreign)
    inherits_from_empty_operator = property(lambda self: getattr(self.operator_class, "_is_empty", False))

    @property
    def task_type(self) -> str:
        return self.operator_class.__name__

    @property
    def operator_name(self) -> str:
        return self.operator_class.custom_operator_name or self.task_type

    @property
    def task_display_name(self) -> str:
        return self._task_display_name or self.task_id

    @property
    def is_mapped(self) -> bool:
        return True

    @property
    def output(self):
        from .xcomarg import XComArg

        return XComArg(operator=self)

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

    @property
    def is_prepared(self) -> bool:
        return self._svc_prepared is not None

    def prepare_unmap(self) -> None:
        """Makes the operator of an instance ahead, with stand-ins for the items it will get.

        Only for classes whose `__init__` looks at the names of a function's arguments, not at their values, and says so; and
        only for expand(), where all instances get the same names.
        """
        keeps_values = "svc_keeps_values" in vars(self.operator_class)
        if keeps_values and self.expands_function_arguments and self.expand_input.kind == "expand":
            self._svc_prepared = None
            self._svc_prepared = self.unmap(dict.fromkeys(self.expand_input.value))

    def unmap(self, resolved: dict):
        """One real operator for one item; used by the runner, so it is kept out of the DAG."""
        if self._svc_prepared is not None:
            # Given away, not copied: an attempt's process makes but one, and copying would touch every value in it.
            task, self._svc_prepared = self._svc_prepared, None
            task.op_kwargs = {**self.partial_kwargs.get("op_kwargs", {}), **resolved}
            return task
        if self._svc_strict:
            self._refuse_given(resolved)
        task = self.operator_class.__new__(self.operator_class)
        # The DAG and the group are there for an `__init__` that asks for them; the task is added to neither.
        task.__dict__.update(_svc_detached=True, _dag=self.dag, task_group=self.task_group)
        arguments = dict(self.partial_kwargs.items())
        if self.expands_function_arguments:
            arguments["op_kwargs"] = {**arguments.get("op_kwargs", {}), **resolved}
        else:
            arguments.update(resolved)
        arguments.setdefault("params", self.params)
        task.__init__(task_id=self.task_id, **arguments)
        task.dag = self.dag
        task.task_group = self.task_group
        task.upstream_task_ids = self.upstream_task_ids
        task.downstream_task_ids = self.downstream_task_ids
        task.is_setup, task.is_teardown = self.is_setup, self.is_teardown
        return task

    def _refuse_given(self, resolved: dict) -> None:
        if self.expands_function_arguments:
            given = self.partial_kwargs.get("op_kwargs", {})
        else:
            given = {*self.given_kwargs, *_UNMAPPABLE}
        repeated = sorted(name for name in resolved if name in given)
        if repeated:
            raise TypeError(
                f"expand_kwargs() got {', '.join(map(repr, repeated))}, which partial() gives already or which cannot differ "
                "between instances. Give each argument in one place, or pass strict=False to let the items win"
            )

    def __repr__(self) -> str:
        return f"<Mapped({self.task_type}): {self.task_id}>"
