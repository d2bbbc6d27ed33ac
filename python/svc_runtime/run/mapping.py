"""Which item of its input a mapped instance stands for.

`expand(a=…, b=…)` is a cross product whose last argument varies fastest; `expand_kwargs` is a plain list. An instance in a
mapped group stands for an item of the group's input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..record.expand import MappedArgument
from ..record.xcomarg import XComArg
from .helpers import LiteralValue


class Expansion:
    def __init__(self, task, map_index: int) -> None:
        self._task = task
        self._map_index = map_index
        self._resolved: dict = {}

    def __call__(self, expand_input, key: str, context):
        """The value of one argument of a mapped group, for this instance."""
        mapping = self.arguments(expand_input, self._index_in(expand_input, context), context)
        if key not in mapping:
            raise TypeError(f"the item has no {key!r}, which the group needs; it has {sorted(mapping)}")
        return mapping[key]

    def _index_in(self, expand_input, context) -> int:
        """Own index; where mapped groups are nested, the part of it that counts for this group."""
        index = self._map_index
        group = self._task.task_group
        for mapped in group.iter_mapped_task_groups() if group is not None else ():
            if mapped.expand_input is expand_input:
                outer = next(iter(mapped.parent_group.iter_mapped_task_groups()), None) if mapped.parent_group else None
                return index if outer is None else index % self.length(expand_input, context)
            index //= self.length(mapped.expand_input, context)
        return index

    def _values(self, argument, context):
        """The list behind an argument, fetched once."""
        if isinstance(argument, (XComArg, MappedArgument)):
            if id(argument) not in self._resolved:
                value = argument.resolve(context)
                if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, Mapping)):
                    raise TypeError(f"cannot expand over a {type(value).__name__}; it takes a list or a dict")
                self._resolved[id(argument)] = value
            return self._resolved[id(argument)]
        return argument

    def length(self, expand_input, context) -> int:
        if expand_input.kind == "expand_kwargs":
            return len(self._values(expand_input.value, context))
        total = 1
        for argument in expand_input.value.values():
            total *= len(self._values(argument, context))
        return total

    def arguments(self, expand_input, index: int, context) -> dict:
        if expand_input.kind == "expand_kwargs":
            return self._one_of_list(expand_input, index, context)
        chosen: dict = {}
        rest = index
        for name, argument in reversed(expand_input.value.items()):
            values = self._values(argument, context)
            rest, place = divmod(rest, len(values)) if len(values) else (1, 0)
            if len(values) == 0:
                break
            chosen[name] = _item(values, place)
        if rest:
            raise IndexError(f"map index {index} is beyond the values the task is expanded over")
        # As written, so that error messages and rendered fields read like the file.
        return {name: chosen[name] for name in expand_input.value}

    def _one_of_list(self, expand_input, index: int, context) -> dict:
        values = self._values(expand_input.value, context)
        if index >= len(values):
            raise IndexError(f"map index {index} is beyond the {len(values)} values the task is expanded over")
        item = self._values(values[index], context) if isinstance(values[index], XComArg) else values[index]
        if not isinstance(item, Mapping):
            raise ValueError(f"expand_kwargs() expects a list of dicts; item {index} is a {type(item).__name__}")
        for key in item:
            if not isinstance(key, str):
                raise ValueError(f"expand_kwargs() item {index} has the key {key!r}, which is not a text")
        return {
            key: value.resolve(context) if isinstance(value, (XComArg, MappedArgument)) else value
            for key, value in item.items()
        }


def _item(values, place: int):
    """Item of a list; a dict is expanded over its (key, value) pairs."""
    return list(values.items())[place] if isinstance(values, Mapping) else values[place]


def _given_by_a_task(expand_input, name: str) -> bool:
    if expand_input.kind == "expand":
        return isinstance(expand_input.value.get(name), (XComArg, MappedArgument))
    return isinstance(expand_input.value, XComArg)


def unmapped(task, map_index: int, context, expansion: Expansion):
    """The real operator of one instance, and the values in it that must not be rendered as templates.

    What another task produced is data: rendering it would let that data run code in this task.
    """
    if not task.is_mapped:
        return task, []
    arguments = expansion.arguments(task.expand_input, map_index, context)
    from_tasks = [name for name in arguments if _given_by_a_task(task.expand_input, name)]
    if task.expands_function_arguments:
        arguments = {n: LiteralValue(value) if n in from_tasks else value for n, value in arguments.items()}
        return task.unmap(arguments), []
    return task.unmap(arguments), [arguments[name] for name in from_tasks]
