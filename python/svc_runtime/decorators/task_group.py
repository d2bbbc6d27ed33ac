"""`@task_group`: a function that fills a group, plain or mapped."""

from __future__ import annotations

import functools
import inspect

from ..record.expand import (
    DictOfListsExpandInput,
    ListOfDictsExpandInput,
    MappedArgument,
    check_expand_kwargs,
    check_expand_list,
)
from ..record.group import MappedTaskGroup, TaskGroup
from ..record.node import DependencyMixin

_GROUP_ARGUMENTS = frozenset(
    "group_id group_display_name prefix_group_id parent_group dag default_args tooltip ui_color ui_fgcolor "
    "add_suffix_on_collision project_dir doc_md retries".split()
)


class TaskGroupFactory:
    svc_group_decorator = True

    def __init__(self, function, group_kwargs: dict, partial_kwargs: dict | None = None) -> None:
        unknown = set(group_kwargs) - _GROUP_ARGUMENTS
        if unknown:
            raise TypeError(f"@task_group got unexpected arguments {sorted(unknown)}")
        functools.update_wrapper(self, function)
        self.function = function
        self.group_kwargs = {"add_suffix_on_collision": True, **group_kwargs}
        self.group_kwargs.setdefault("group_id", function.__name__)
        self.partial_kwargs = partial_kwargs or {}

    def _options(self) -> dict:
        options = dict(self.group_kwargs)
        if self.function.__doc__ and not options.get("tooltip"):
            options["tooltip"] = self.function.__doc__
        return options

    def _run(self, group, args, kwargs):
        result = self.function(*args, **kwargs)
        # Returning the group itself lets `tg() >> other` work for functions without a value.
        if isinstance(result, DependencyMixin):
            return result
        return group if result is None else result

    def __call__(self, *args, **kwargs):
        with TaskGroup(**self._options()) as group:
            return self._run(group, args, {**self.partial_kwargs, **kwargs})

    def override(self, **kwargs) -> TaskGroupFactory:
        return TaskGroupFactory(self.function, {**self.group_kwargs, **kwargs}, self.partial_kwargs)

    def _check_names(self, function: str, names) -> None:
        parameters = inspect.signature(self.function).parameters
        if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            return
        for name in names:
            if name not in parameters:
                raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
            if function == "expand" and name in self.partial_kwargs:
                raise TypeError(f"expand() got multiple values for argument {name!r}")

    def partial(self, **kwargs) -> TaskGroupFactory:
        self._check_names("partial", kwargs)
        return TaskGroupFactory(self.function, self.group_kwargs, {**self.partial_kwargs, **kwargs})

    def expand(self, **kwargs):
        if not kwargs:
            raise TypeError("no arguments to expand against")
        self._check_names("expand", kwargs)
        check_expand_kwargs("expand", kwargs)
        expand_input = DictOfListsExpandInput(kwargs)
        return self._expand(expand_input, {name: MappedArgument(expand_input, name) for name in kwargs})

    def expand_kwargs(self, kwargs):
        check_expand_list(kwargs)
        expand_input = ListOfDictsExpandInput(kwargs)
        # The keys are known only at run time: every argument not fixed and without default may come from them.
        names = [
            name
            for name, parameter in inspect.signature(self.function).parameters.items()
            if name not in self.partial_kwargs
            and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        ]
        return self._expand(expand_input, {name: MappedArgument(expand_input, name) for name in names})

    def _expand(self, expand_input, arguments: dict):
        with MappedTaskGroup(expand_input=expand_input, **self._options()) as group:
            return self._run(group, (), {**self.partial_kwargs, **arguments})


def task_group(python_callable=None, **tg_kwargs):
    if callable(python_callable) and not tg_kwargs:
        return TaskGroupFactory(python_callable, {})
    if isinstance(python_callable, str):
        tg_kwargs.setdefault("group_id", python_callable)
        python_callable = None
    if python_callable is not None:
        return TaskGroupFactory(python_callable, tg_kwargs)
    return lambda function: TaskGroupFactory(function, tg_kwargs)
