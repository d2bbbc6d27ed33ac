"""What a mapped task or group is expanded over. Order of arguments matters: it decides map indexes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .xcomarg import XComArg, iter_references


class MappedArgument:
    """Stands for one item inside a mapped task group; becomes the item at run time."""

    def __init__(self, expand_input, key: str) -> None:
        self._input = expand_input
        self._key = key

    def iter_references(self):
        yield from iter_references(list(self._input.iter_values()))

    @property
    def key(self) -> str:
        return self._key

    def resolve(self, context):
        return self._input.resolve_key(context, self._key)

    def __repr__(self) -> str:
        return f"MappedArgument({self._key!r})"


class ExpandInput:
    kind = ""

    def iter_values(self):
        raise NotImplementedError

    def iter_references(self):
        yield from iter_references(list(self.iter_values()))

    def iter_operators(self) -> list:
        found: list = []
        for operator, _ in self.iter_references():
            if not any(operator is known for known in found):
                found.append(operator)
        return found

    def resolve_key(self, context, key: str):
        return context["ti"].svc_expand(self, key)


class DictOfListsExpandInput(ExpandInput):
    kind = "expand"

    def __init__(self, value: Mapping) -> None:
        self.value = dict(value)

    def iter_values(self):
        return self.value.values()


class ListOfDictsExpandInput(ExpandInput):
    kind = "expand_kwargs"

    def __init__(self, value) -> None:
        self.value = value

    def iter_values(self):
        return [self.value] if isinstance(self.value, XComArg) else list(self.value)


def _is_mappable(value) -> bool:
    return isinstance(value, (XComArg, MappedArgument, Mapping)) or (
        isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))
    )


def _require_return_value(value) -> None:
    for _, key in iter_references(value) if isinstance(value, XComArg) else ():
        if key != "return_value":
            raise ValueError(f"cannot map over XCom with custom key {key!r}")


def check_expand_kwargs(name: str, kwargs: dict) -> None:
    for key, value in kwargs.items():
        if isinstance(value, (set, frozenset)) or not _is_mappable(value):
            raise ValueError(f"{name}() got an unexpected type {type(value).__name__!r} for keyword argument {key!r}")
        _require_return_value(value)


def check_expand_list(value) -> None:
    if isinstance(value, XComArg):
        _require_return_value(value)
        return
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise TypeError(f"expected XComArg or list[dict], not {type(value).__name__}")
    for item in value:
        if not isinstance(item, (Mapping, XComArg)):
            raise TypeError(f"expected XComArg or list[dict], not a list with {type(item).__name__}")
