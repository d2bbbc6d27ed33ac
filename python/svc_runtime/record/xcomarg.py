"""XComArg: a promise of another task's value, and the lazy map/zip/concat on top of it.

At compile time these are only references. `resolve` is called by the runner with a context that can pull.
"""

from __future__ import annotations

import collections.abc
import inspect
import itertools

from . import setup_teardown
from .node import DependencyMixin, TaskNode
from .notset import NOTSET

XCOM_RETURN_KEY = "return_value"


class XComArg(DependencyMixin):
    """`XComArg(task)` and `task.output` are both PlainXComArg; the base class is what isinstance checks use."""

    def __new__(cls, *args, **kwargs):
        return super().__new__(PlainXComArg if cls is XComArg else cls)

    def iter_references(self):
        """(operator, key) pairs this value is made from."""
        raise NotImplementedError

    @staticmethod
    def iter_xcom_references(value):
        return iter_references(value)

    @staticmethod
    def apply_upstream_relationship(op, arg) -> None:
        link_references(op, [arg])

    @property
    def roots(self) -> list:
        return [operator for operator, _ in self.iter_references()]

    @property
    def leaves(self) -> list:
        return [operator for operator, _ in self.iter_references()]

    def set_upstream(self, task_or_task_list, edge_modifier=None) -> None:
        for operator, _ in self.iter_references():
            operator.set_upstream(task_or_task_list, edge_modifier)

    def set_downstream(self, task_or_task_list, edge_modifier=None) -> None:
        for operator, _ in self.iter_references():
            operator.set_downstream(task_or_task_list, edge_modifier)

    def as_setup(self):
        for operator, _ in self.iter_references():
            operator.as_setup()
        return self

    def as_teardown(self, *, setups=None, on_failure_fail_dagrun=NOTSET):
        for operator, _ in self.iter_references():
            operator.as_teardown(setups=setups, on_failure_fail_dagrun=on_failure_fail_dagrun)
        return self

    def map(self, f):
        return MapXComArg(self, [f])

    def zip(self, *others, fillvalue=NOTSET):
        return ZipXComArg([self, *others], fillvalue=fillvalue)

    def concat(self, *others):
        return ConcatXComArg([self, *others])

    def resolve(self, context):
        raise NotImplementedError

    def __enter__(self):
        return setup_teardown.enter([operator for operator, _ in self.iter_references()])

    def __exit__(self, exc_type, exc, traceback) -> None:
        setup_teardown.leave()


class PlainXComArg(XComArg):
    def __init__(self, operator, key: str = XCOM_RETURN_KEY) -> None:
        if not isinstance(operator, TaskNode):
            raise TypeError(f"XComArg needs an operator, not {type(operator).__name__}")
        self.operator = operator
        self.key = key

    def __eq__(self, other) -> bool:
        return isinstance(other, PlainXComArg) and self.operator is other.operator and self.key == other.key

    def __hash__(self) -> int:
        return hash((id(self.operator), self.key))

    def __getitem__(self, item: str) -> PlainXComArg:
        if not isinstance(item, str):
            raise ValueError(f"XComArg only supports str lookup, received {type(item).__name__}")
        return PlainXComArg(self.operator, item)

    def __iter__(self):
        raise TypeError("'XComArg' object is not iterable")

    def __contains__(self, item) -> bool:
        raise TypeError("'XComArg' object is not a container; its value is known only when the task has run")

    def __str__(self) -> str:
        # The form used when an author writes an f-string around a task's output.
        return (
            f"{{{{ task_instance.xcom_pull(task_ids='{self.operator.task_id}', "
            f"dag_id='{self.operator.dag_id}', key='{self.key}') }}}}"
        )

    def __repr__(self) -> str:
        suffix = "" if self.key == XCOM_RETURN_KEY else f", {self.key!r}"
        return f"XComArg({self.operator!r}{suffix})"

    def iter_references(self):
        yield self.operator, self.key

    @property
    def is_setup(self) -> bool:
        return self.operator.is_setup

    @is_setup.setter
    def is_setup(self, value: bool) -> None:
        self.operator.is_setup = value

    @property
    def is_teardown(self) -> bool:
        return self.operator.is_teardown

    @is_teardown.setter
    def is_teardown(self, value: bool) -> None:
        self.operator.is_teardown = value

    @property
    def on_failure_fail_dagrun(self) -> bool:
        return self.operator.on_failure_fail_dagrun

    @on_failure_fail_dagrun.setter
    def on_failure_fail_dagrun(self, value: bool) -> None:
        self.operator.on_failure_fail_dagrun = value

    def map(self, f):
        if self.key != XCOM_RETURN_KEY:
            raise ValueError("cannot map against non-return XCom")
        return super().map(f)

    def zip(self, *others, fillvalue=NOTSET):
        if self.key != XCOM_RETURN_KEY:
            raise ValueError("cannot map against non-return XCom")
        return super().zip(*others, fillvalue=fillvalue)

    def concat(self, *others):
        if self.key != XCOM_RETURN_KEY:
            raise ValueError("cannot concatenate non-return XCom")
        return super().concat(*others)

    def resolve(self, context):
        return context["ti"].svc_resolve_xcom(self.operator, self.key)


class MapXComArg(XComArg):
    def __init__(self, arg, callables: list) -> None:
        for function in callables:
            # A @task object is callable too, but calling it here would define a task, not map a value.
            if hasattr(function, "svc_task_decorator") or not callable(function):
                raise ValueError("map() argument must be a plain function, not a @task operator")
        self.arg = arg
        self.callables = callables

    def map(self, f):
        return MapXComArg(self.arg, [*self.callables, f])

    def iter_references(self):
        yield from self.arg.iter_references()

    def resolve(self, context):
        return _Mapped(_sequence(self.arg.resolve(context), "map()"), self.callables)

    def __repr__(self) -> str:
        return f"{self.arg!r}.map({len(self.callables)} functions)"


class _Mapped(collections.abc.Sequence):
    """The functions run for the item that is looked at: one may skip or fail its own instance, not the others."""

    svc_lazy_sequence = True

    def __init__(self, values, callables: list) -> None:
        self._values = values
        self._callables = callables

    def expect_length(self, length: int | None) -> None:
        if hasattr(self._values, "expect_length"):
            self._values.expect_length(length)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        value = self._values[index]
        for function in self._callables:
            value = function(value)
        return value

    def __repr__(self) -> str:
        return repr(list(self))


def _sequence(value, what: str):
    """A dict counts as its pairs."""
    if isinstance(value, collections.abc.Mapping):
        return list(value.items())
    if isinstance(value, (str, bytes)) or not isinstance(value, collections.abc.Sequence):
        raise ValueError(f"XCom {what} expects sequence or dict, not {type(value).__name__}")
    return value


class ZipXComArg(XComArg):
    def __init__(self, args: list, *, fillvalue=NOTSET) -> None:
        self.args = args
        self.fillvalue = fillvalue

    def iter_references(self):
        for arg in self.args:
            yield from iter_references(arg)

    def resolve(self, context):
        values = [_sequence(arg.resolve(context), "zip()") for arg in self.args]
        if self.fillvalue is NOTSET:
            return list(zip(*values, strict=False))  # as long as the shortest
        return list(itertools.zip_longest(*values, fillvalue=self.fillvalue))


class ConcatXComArg(XComArg):
    def __init__(self, args: list) -> None:
        self.args = args

    def concat(self, *others):
        return ConcatXComArg([*self.args, *others])

    def iter_references(self):
        for arg in self.args:
            yield from iter_references(arg)

    def resolve(self, context):
        values = [_sequence(arg.resolve(context), "concat()") for arg in self.args]
        return list(itertools.chain.from_iterable(values))


def iter_references(value, _seen=None):
    """All (operator, key) references inside a value: containers, dict keys and values. As on Airflow, an object that has template
    fields, such as a notifier, refers to nothing."""
    if value is None or isinstance(value, (str, int, float, bool, bytes)):
        return
    if isinstance(value, XComArg) or hasattr(value, "iter_references"):
        yield from value.iter_references()
        return
    seen = _seen if _seen is not None else set()
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, dict):
        for key, item in value.items():
            yield from iter_references(key, seen)
            yield from iter_references(item, seen)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from iter_references(item, seen)


def link_references(task, values) -> None:
    """Makes every task referenced in `values` an upstream of `task`."""
    for operator, _ in iter_references(list(values)):
        if operator is not task and operator.task_id not in task.upstream_task_ids:
            task.set_upstream(operator)


def callable_name(function) -> str:
    return getattr(function, "__qualname__", None) or type(function).__qualname__


def function_line(function) -> int | None:
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    return code.co_firstlineno if code is not None else None
