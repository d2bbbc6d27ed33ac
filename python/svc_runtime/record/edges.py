"""Labels on edges and the helpers that draw many edges at once."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from .node import DependencyMixin


class EdgeModifier(DependencyMixin):
    """Sits between two nodes in `a >> Label("x") >> b` until it knows both sides."""

    def __init__(self, label: str | None = None) -> None:
        self.label = label
        self._upstream: list = []
        self._downstream: list = []

    @property
    def roots(self):
        return self._downstream

    @property
    def leaves(self):
        return self._upstream

    @staticmethod
    def _as_list(value) -> list:
        if isinstance(value, DependencyMixin):
            return [value]
        nodes = list(value)
        for node in nodes:
            if not isinstance(node, DependencyMixin):
                raise TypeError(f"Cannot use edge labels with {type(node).__name__}, only tasks, XComArg or TaskGroups")
        return nodes

    def _remember(self, nodes: list, side: list) -> None:
        for node in nodes:
            if isinstance(node, EdgeModifier):
                raise TypeError("Two edge labels cannot follow each other; put a task or a group between them")
            if not any(known is node for known in side):
                side.append(node)

    def set_upstream(self, other, edge_modifier=None) -> None:
        nodes = self._as_list(other)
        self._remember(nodes, self._upstream)
        for node in nodes:
            for down in self._downstream:
                down.set_upstream(node, edge_modifier=self)

    def set_downstream(self, other, edge_modifier=None) -> None:
        nodes = self._as_list(other)
        self._remember(nodes, self._downstream)
        for node in nodes:
            for up in self._upstream:
                up.set_downstream(node, edge_modifier=self)

    def update_relative(self, other, upstream: bool = True, edge_modifier=None) -> None:
        # `upstream` says where `other` stands relative to this label.
        if upstream:
            self._remember([other], self._upstream)
            for down in self._downstream:
                other.set_downstream(down, edge_modifier=self)
        else:
            self._remember([other], self._downstream)
            for up in self._upstream:
                up.set_downstream(other, edge_modifier=self)

    def add_edge_info(self, dag, upstream_id: str, downstream_id: str) -> None:
        dag.set_edge_info(upstream_id, downstream_id, {"label": self.label})


def Label(label: str) -> EdgeModifier:
    """The name authors use; a function, so that `Label("x")` reads as data."""
    return EdgeModifier(label=label)


def _check_same_length(up: Sequence, down: Sequence) -> None:
    if len(up) != len(down):
        raise ValueError(f"Chain not supported for different length Iterable. Got {len(up)} and {len(down)}.")


def chain(*tasks) -> None:
    """`chain(a, [b, c], [d, e], f)`: lists of equal length are joined pairwise."""
    for up, down in itertools.pairwise(tasks):
        if isinstance(up, DependencyMixin):
            up.set_downstream(down)
        elif isinstance(down, DependencyMixin):
            down.set_upstream(up)
        elif isinstance(up, Sequence) and isinstance(down, Sequence):
            _check_same_length(up, down)
            for left, right in zip(up, down, strict=True):
                left.set_downstream(right)
        else:
            raise TypeError(f"Chain not supported between instances of {type(up)} and {type(down)}")


def cross_downstream(from_tasks, to_tasks) -> None:
    for task in from_tasks:
        task.set_downstream(to_tasks)


def chain_linear(*elements) -> None:
    """Like chain, but lists are always joined all to all."""
    if not elements:
        raise ValueError("No tasks provided; nothing to do.")
    previous = None
    linked = False
    for element in elements:
        nodes = [element] if isinstance(element, DependencyMixin) else list(element)
        if previous:
            cross_downstream(previous, nodes)
            linked = True
        # An empty list in the middle is passed over, so that optional stages read naturally.
        previous = nodes or previous
    if not linked:
        raise ValueError("No dependencies were set. Did you forget to expand with `*`?")
