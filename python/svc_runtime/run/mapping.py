"""Which item of its input a mapped instance stands for, and which instances of other tasks belong to it.

What gives a task its map indexes are the mapped groups around it, outermost first, then its own mapping: its levels. With
levels of lengths a and b it has a × b instances, the innermost varying fastest. Within a level, `expand(a=…, b=…)` is a cross
product whose last argument varies fastest; `expand_kwargs` is a plain list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..record.expand import MappedArgument
from ..record.xcomarg import XComArg
from .helpers import LiteralValue


def levels_of(task) -> list:
    """What the task is expanded over, level by level."""
    levels = [task.expand_input] if task.is_mapped else []
    group = task.task_group
    while group is not None:
        if group.svc_is_mapped:
            levels.insert(0, group.expand_input)
        group = group.parent_group
    return levels


class Expansion:
    def __init__(self, task, map_index: int, context, total: int | None = None) -> None:
        self._levels = levels_of(task)
        self._map_index = map_index
        self._context = context
        self._total = total
        self._resolved: dict = {}

    def __call__(self, expand_input, key: str):
        """The value of one argument of a mapped group, for this instance."""
        mapping = self.arguments(expand_input)
        if key not in mapping:
            raise TypeError(f"the item has no {key!r}, which the group needs; it has {sorted(mapping)}")
        return mapping[key]

    def _product(self, levels: list) -> int:
        total = 1
        for level in levels:
            total *= self.length(level)
        return total

    def _item_index(self, expand_input) -> int:
        """The part of the map index that counts for one level."""
        if len(self._levels) == 1 and self._levels[0] is expand_input:
            return self._map_index
        place = next(i for i, level in enumerate(self._levels) if level is expand_input)
        index = self._map_index // self._product(self._levels[place + 1 :])
        return index if place == 0 else index % self.length(expand_input)

    def instances_of(self, task) -> int | range | None:
        """The instance of another task that belongs to this one, or several; None for all of them, -1 if it has but one."""
        levels = levels_of(task)
        shared = 0
        while shared < min(len(levels), len(self._levels)) and levels[shared] is self._levels[shared]:
            shared += 1
        if shared == 0:
            return None if levels else -1
        own = self._map_index // self._product(self._levels[shared:])
        if shared == len(levels):
            return own
        size = self._product(levels[shared:])
        return range(own * size, (own + 1) * size)

    def _values(self, argument, alone: bool = False):
        """The list behind an argument, fetched once. `alone`: nothing else decides the number of instances."""
        if not isinstance(argument, (XComArg, MappedArgument)):
            return argument
        if id(argument) not in self._resolved:
            value = argument.resolve(self._context)
            if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, Mapping)):
                raise TypeError(f"cannot expand over a {type(value).__name__}; it takes a list or a dict")
            if alone and len(self._levels) == 1 and hasattr(value, "expect_length"):
                value.expect_length(self._total)
            self._resolved[id(argument)] = value
        return self._resolved[id(argument)]

    def length(self, expand_input) -> int:
        if expand_input.kind == "expand_kwargs":
            return len(self._values(expand_input.value))
        total = 1
        for argument in expand_input.value.values():
            total *= len(self._values(argument))
        return total

    def arguments(self, expand_input) -> dict:
        index = self._item_index(expand_input)
        if expand_input.kind == "expand_kwargs":
            return self._one_of_list(expand_input, index)
        chosen: dict = {}
        rest = index
        for name, argument in reversed(expand_input.value.items()):
            values = self._values(argument, alone=len(expand_input.value) == 1)
            rest, place = divmod(rest, len(values)) if len(values) else (1, 0)
            if len(values) == 0:
                break
            chosen[name] = _item(values, place)
        if rest:
            raise IndexError(f"map index {index} is beyond the values the task is expanded over")
        # As written, so that error messages and rendered fields read like the file.
        return {name: chosen[name] for name in expand_input.value}

    def _one_of_list(self, expand_input, index: int) -> dict:
        values = self._values(expand_input.value, alone=True)
        if index >= len(values):
            raise IndexError(f"map index {index} is beyond the {len(values)} values the task is expanded over")
        item = values[index]
        if isinstance(item, XComArg):
            item = item.resolve(self._context)
        if not isinstance(item, Mapping):
            raise ValueError(f"expand_kwargs() expects a list of dicts; item {index} is a {type(item).__name__}")
        for key in item:
            if not isinstance(key, str):
                raise ValueError(f"expand_kwargs() item {index} has the key {key!r}, which is not a text")
        return {
            key: value.resolve(self._context) if isinstance(value, (XComArg, MappedArgument)) else value
            for key, value in item.items()
        }


def _item(values, place: int):
    """Item of a list; a dict is expanded over its (key, value) pairs."""
    if type(values) is not list and isinstance(values, Mapping):
        return list(values.items())[place]
    return values[place]


def _given_by_a_task(expand_input, name: str) -> bool:
    if expand_input.kind == "expand":
        return isinstance(expand_input.value.get(name), (XComArg, MappedArgument))
    return isinstance(expand_input.value, XComArg)


def unmapped(task, expansion: Expansion):
    """The real operator of one instance, and the values in it that must not be rendered as templates.

    What another task produced is data: rendering it would let that data run code in this task.
    """
    if not task.is_mapped:
        return task, []
    arguments = expansion.arguments(task.expand_input)
    kept = []
    for name in arguments:
        if _given_by_a_task(task.expand_input, name):
            if task.expands_function_arguments:
                arguments[name] = LiteralValue(arguments[name])
            else:
                kept.append(arguments[name])
    return task.unmap(arguments), kept
