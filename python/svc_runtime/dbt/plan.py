"""From the graph of a project to tasks: by node, by level or by folder. Pure.

A part is what one task does. Its nodes are those whose results it answers for; `upstream` names the parts before it. A test runs
after everything it reads, and before whatever comes after all of that, as with `dbt build`.
"""

from __future__ import annotations

import itertools
import re

from ..exceptions import RecordingError
from .graph import Graph, Node

GRANULARITIES = ("node", "level", "folder")
TEST_BEHAVIORS = ("after_each", "build", "after_all", "none")

_COMMANDS = {"model": "run", "seed": "seed", "snapshot": "snapshot"}
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_-]+")


class Part:
    def __init__(self, name: str, *, command: str, nodes: list[Node], group: str | None = None) -> None:
        self.name = name
        # A group of its own inside the group, for a model and its tests.
        self.group = group
        self.command = command
        self.nodes = nodes
        self.upstream: set[str] = set()

    @property
    def key(self) -> str:
        return f"{self.group}.{self.name}" if self.group else self.name

    def __repr__(self) -> str:
        return f"<{self.key}: {self.command} {[node.name for node in self.nodes]} after {sorted(self.upstream)}>"


def plan(graph: Graph, *, granularity: str, tests: str, source_freshness: bool = False) -> list[Part]:
    """In an order in which they could run."""
    for what, value, allowed in (("granularity", granularity, GRANULARITIES), ("tests", tests, TEST_BEHAVIORS)):
        if value not in allowed:
            raise RecordingError(f"{what} is {value!r}", f"Write one of {', '.join(map(repr, allowed))}")
    order = _sorted(graph)
    if granularity == "node":
        parts = _by_node(graph, order, tests)
    else:
        parts = _in_parts(graph, _levels(graph, order) if granularity == "level" else _folders(graph, order), tests)
        if granularity == "level":
            for before, after in itertools.pairwise(parts):
                after.upstream = {before.key}
    if tests == "after_all" and graph.tests:
        last = Part("test", command="test", nodes=graph.tests)
        inner = {name for part in parts for name in part.upstream}
        last.upstream = {part.key for part in parts if part.key not in inner}
        parts.append(last)
    if source_freshness:
        parts = [*_freshness(graph, parts), *parts]
    if not parts:
        raise RecordingError(
            f"the dbt project '{graph.project}' has nothing to run",
            "Look at select, exclude and selector, or add a model",
        )
    return parts


def _sorted(graph: Graph) -> list[Node]:
    """What is built, parents first; by id where the graph leaves it open."""
    built = {node.id: node for node in graph.built}
    left = {name: set(graph.near(node)) for name, node in built.items()}
    order: list[Node] = []
    done: set[str] = set()
    while left:
        ready = sorted(name for name, parents in left.items() if parents <= done)
        if not ready:  # dbt refuses circles; a manifest that has one was not made by dbt
            raise RecordingError(f"models of the dbt project '{graph.project}' depend on each other in a circle")
        for name in ready:
            order.append(built[name])
            del left[name]
        done |= set(ready)
    return order


def _ancestors(graph: Graph, order: list[Node]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for node in order:
        parents = graph.near(node)
        found[node.id] = parents.union(*(found[name] for name in parents)) if parents else frozenset()
    return found


def task_names(nodes: list[Node]) -> dict[str, str]:
    """By id: the node's own name, with its package where two have the same."""
    plain = {node.id: _NOT_IN_IDS.sub("_", node.name) for node in nodes}
    often: dict[str, int] = {}
    for name in plain.values():
        often[name] = often.get(name, 0) + 1
    return {
        node.id: plain[node.id]
        if often[plain[node.id]] == 1
        else _NOT_IN_IDS.sub("_", f"{node.package}_{node.type}_{node.name}")
        for node in nodes
    }


def _by_node(graph: Graph, order: list[Node], tests: str) -> list[Part]:
    names = task_names(order)
    ancestors = _ancestors(graph, order)
    owned, shared = _tests_by_owner(graph, order, ancestors) if tests in ("after_each", "build") else ({}, {})
    parts: list[Part] = []
    # What has to be over before something that needs the node may begin.
    done: dict[str, str] = {}
    for node in order:
        command, name, own = _COMMANDS[node.type], names[node.id], owned.get(node.id, [])
        if tests == "build":
            part = Part(f"{name}_{node.type}_build", command="build", nodes=[node, *own])
        elif own:
            part = Part(command, command=command, nodes=[node], group=name)
        else:
            part = Part(f"{name}_{command}", command=command, nodes=[node])
        part.upstream = {done[parent] for parent in graph.near(node)}
        parts.append(part)
        done[node.id] = part.key
        if own and tests != "build":
            test = Part("test", command="test", nodes=own, group=name)
            test.upstream = {part.key}
            parts.append(test)
            done[node.id] = test.key
    test_names = task_names([group[0] for group in shared.values()])
    for owner, group in shared.items():
        first = group[0]
        named = _NOT_IN_IDS.sub("_", graph.nodes[owner].name) if owner in graph.nodes else test_names[first.id]
        test = Part(f"{named}_test", command="test", nodes=group)
        near = graph.near(first)
        test.upstream = {done[parent] for parent in near}
        parts.append(test)
        for node, part in _parts_after(graph, order, ancestors, parts, first, near):
            if node.id not in near:
                part.upstream.add(test.key)
    return _in_order(parts)


def _parts_after(graph: Graph, order, ancestors, parts: list[Part], test: Node, near):
    """Parts that build what comes after everything the test reads, and so wait for it."""
    sources = {name for name in test.parents if name in graph.nodes and graph.nodes[name].type == "source"}
    builds = {node.id: part for part in parts if part.command != "test" for node in part.nodes}
    for node in order:
        if (near and near <= ancestors[node.id]) or (not near and sources & graph.sources_of(node)):
            yield node, builds[node.id]


def _tests_by_owner(graph: Graph, order: list[Node], ancestors) -> tuple[dict, dict]:
    """Tests by the node they follow: the one that comes after all others they read. Those without one stand alone; those of
    sources together, by source."""
    owned: dict[str, list[Node]] = {}
    shared: dict[str, list[Node]] = {}
    for test in graph.tests:
        near = graph.near(test)
        last = [name for name in near if near <= ancestors[name] | {name}]
        if last:
            owned.setdefault(last[0], []).append(test)
        else:
            source = next((name for name in test.parents if name.startswith("source.")), None)
            shared.setdefault(source if source and not near else test.id, []).append(test)
    return owned, shared


def _levels(graph: Graph, order: list[Node]) -> list[tuple[str, list[Node]]]:
    depth: dict[str, int] = {}
    for node in order:
        depth[node.id] = 1 + max((depth[name] for name in graph.near(node)), default=0)
    by_level: dict[int, list[Node]] = {}
    for node in order:
        by_level.setdefault(depth[node.id], []).append(node)
    width = len(str(len(by_level)))
    return [(f"level_{level:0{width}d}", nodes) for level, nodes in sorted(by_level.items())]


def _folders(graph: Graph, order: list[Node]) -> list[tuple[str, list[Node]]]:
    """A folder at a time. Where folders need each other, one is done in several parts, as few as a greedy choice gives."""
    left = {node.id: node for node in order}
    done: set[str] = set()
    parts: list[tuple[str, list[Node]]] = []
    used: dict[str, int] = {}
    while left:
        ready: dict[str, list[Node]] = {}
        for folder in sorted({node.folder for node in left.values()}):
            inner: set[str] = set()
            for node in order:
                if node.id in left and node.folder == folder and graph.near(node) <= done | inner:
                    inner.add(node.id)
            if inner:
                ready[folder] = [left[name] for name in left if name in inner]
        whole = [name for name in ready if len(ready[name]) == sum(node.folder == name for node in left.values())]
        folder = whole[0] if whole else max(ready, key=lambda name: (len(ready[name]), name))
        used[folder] = used.get(folder, 0) + 1
        label = _NOT_IN_IDS.sub("_", folder.replace("/", "__"))
        parts.append((label if used[folder] == 1 else f"{label}_part{used[folder]}", ready[folder]))
        done |= {node.id for node in ready[folder]}
        left = {name: node for name, node in left.items() if name not in done}
    return parts


def _in_parts(graph: Graph, groups: list[tuple[str, list[Node]]], tests: str) -> list[Part]:
    """Parts of several nodes: dbt orders what is inside, tests included."""
    parts = [Part(name, command="build", nodes=list(nodes)) for name, nodes in groups]
    place = {node.id: index for index, part in enumerate(parts) for node in part.nodes}
    for part in parts:
        for node in part.nodes:
            part.upstream |= {parts[place[name]].key for name in graph.near(node)} - {part.key}
    if tests in ("after_each", "build"):
        alone: list[Node] = []
        for test in graph.tests:
            near = graph.near(test)
            if near:
                owner = parts[max(place[name] for name in near)]
            else:
                readers = _readers(graph, parts, test)
                if not readers:
                    alone.append(test)
                    continue
                owner = readers[0]
            owner.nodes.append(test)
            # It may read what this part does not.
            owner.upstream |= {parts[place[name]].key for name in near} - {owner.key}
        if alone:
            parts.append(Part("test", command="test", nodes=alone))
    return parts


def _readers(graph: Graph, parts: list[Part], test: Node) -> list[Part]:
    sources = {name for name in test.parents if name in graph.nodes and graph.nodes[name].type == "source"}
    return [
        part for part in parts if any(sources & graph.sources_of(node) for node in part.nodes if node.type != "source")
    ]


def _freshness(graph: Graph, parts: list[Part]) -> list[Part]:
    """One task for each source that says how old it may be; what reads it comes after."""
    found: dict[str, list[Part]] = {}
    for part in parts:
        if part.command == "test":
            continue
        for node in part.nodes:
            for source in graph.sources_of(node):
                if graph.nodes[source].has_freshness:
                    found.setdefault(source, []).append(part)
    fresh = []
    for source in sorted(found):
        node = graph.nodes[source]
        part = Part(f"{_NOT_IN_IDS.sub('_', node.name)}_freshness", command="freshness", nodes=[node])
        fresh.append(part)
        for reader in found[source]:
            reader.upstream.add(part.key)
    return fresh


def _in_order(parts: list[Part]) -> list[Part]:
    """As they could run, otherwise as given."""
    left, order = list(parts), []
    done: set[str] = set()
    while left:
        ready = next((part for part in left if part.upstream <= done), None)
        if ready is None:
            raise RecordingError("the tasks of a dbt group depend on each other in a circle")
        left.remove(ready)
        order.append(ready)
        done.add(ready.key)
    return order
