"""The 'not given' marker, distinct from None because None is a meaningful argument value."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ArgNotSet:
    _instance = None

    def __new__(cls):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "NOTSET"

    def __bool__(self) -> bool:
        return False


# Of any type, because type checkers infer the type of an argument from its default.
NOTSET: Any = ArgNotSet()


def is_arg_set(value) -> bool:
    return value is not NOTSET


def is_arg_passed(value) -> bool:
    return value is not NOTSET and value is not None
