"""The graph of a dbt project, as small as tasks need it: made from dbt's own manifest, kept with the version. Pure."""

from __future__ import annotations

import json
import posixpath

FORMAT = 1
BUILT = ("model", "seed", "snapshot")
TESTS = ("test", "unit_test")


class Node:
    """One resource of the project. `parents` are unique ids, of whatever kind."""

    __slots__ = ("folder", "fqn", "has_freshness", "id", "materialized", "name", "package", "parents", "path", "type")

    def __init__(self, given: dict) -> None:
        self.id: str = given["id"]
        self.type: str = given["type"]
        self.name: str = given["name"]
        self.package: str = given["package"]
        self.fqn: str = given["fqn"]
        self.path: str = given["path"]
        self.parents: list[str] = given["parents"]
        self.materialized: str = given.get("materialized") or ""
        self.has_freshness: bool = bool(given.get("has_freshness"))
        self.folder: str = given["folder"]

    @property
    def is_built(self) -> bool:
        """An ephemeral model is part of the models that use it: there is nothing to build."""
        return self.type in BUILT and self.materialized != "ephemeral"

    @property
    def selector(self) -> str:
        """What makes dbt select this one: its whole path of names. A source has a method of its own."""
        return f"source:{self.fqn}" if self.type == "source" else f"fqn:{self.fqn}"


class Graph:
    def __init__(self, given: dict) -> None:
        self.project: str = given["project"]
        self.adapter: str = given["adapter"]
        self.project_hash: str = given["project_hash"]
        self.nodes: dict[str, Node] = {item["id"]: Node(item) for item in given["nodes"]}
        self.selected: list[str] = [name for name in given["selected"] if name in self.nodes]
        self.built: list[Node] = [self.nodes[name] for name in self.selected if self.nodes[name].is_built]
        self.tests: list[Node] = [self.nodes[name] for name in self.selected if self.nodes[name].type in TESTS]
        self._built = {node.id for node in self.built}
        self._near: dict[str, frozenset[str]] = {}

    @classmethod
    def from_text(cls, text: str) -> Graph:
        return cls(json.loads(text))

    def near(self, node: Node) -> frozenset[str]:
        """The nearest nodes before it that are built here, through those that are not: order is kept across what was left out."""
        known = self._near.get(node.id)
        if known is not None:
            return known
        found: set[str] = set()
        for parent in node.parents:
            if parent in self._built:
                found.add(parent)
            elif parent in self.nodes:
                found |= self.near(self.nodes[parent])
        self._near[node.id] = frozenset(found)
        return self._near[node.id]

    def sources_of(self, node: Node) -> set[str]:
        """Sources it reads, also through models that are not built here."""
        found: set[str] = set()
        waiting, seen = list(node.parents), set()
        while waiting:
            name = waiting.pop()
            if name in seen or name not in self.nodes or name in self._built:
                continue
            seen.add(name)
            if self.nodes[name].type == "source":
                found.add(name)
            waiting += self.nodes[name].parents
        return found


def compact(manifest: dict, *, selected: list[str], project_hash: str) -> dict:
    """From dbt's manifest (as it is written to manifest.json) to what is kept. Sorted: the same project gives the same bytes."""
    project = manifest["metadata"].get("project_name") or ""
    nodes = []
    for section in ("nodes", "sources", "unit_tests"):
        for node in (manifest.get(section) or {}).values():
            if node["resource_type"] in (*BUILT, *TESTS, "source"):
                nodes.append(_compact(node, project))
    return {
        "format": FORMAT,
        "project": project,
        "adapter": manifest["metadata"].get("adapter_type") or "",
        "project_hash": project_hash,
        "nodes": sorted(nodes, key=lambda node: node["id"]),
        "selected": sorted(selected),
    }


def _compact(node: dict, project: str) -> dict:
    kind = node["resource_type"]
    name = node["name"]
    if node.get("version") is not None:
        name = f"{name}_v{node['version']}"
    fqn = node.get("fqn") or []
    entry = {
        "id": node["unique_id"],
        "type": kind,
        "name": f"{node['source_name']}.{name}" if kind == "source" else name,
        "package": node["package_name"],
        # Of a source the selector is `source:<package>.<source>.<table>`, of anything else its names from the project down.
        "fqn": f"{node['package_name']}.{node['source_name']}.{node['name']}" if kind == "source" else ".".join(fqn),
        "path": node.get("original_file_path") or "",
        "folder": _folder(node, project),
        "parents": sorted(set((node.get("depends_on") or {}).get("nodes") or [])),
    }
    materialized = (node.get("config") or {}).get("materialized")
    if kind == "model" and materialized:
        entry["materialized"] = materialized
    if kind == "source" and _has_freshness(node):
        entry["has_freshness"] = True
    return entry


def _has_freshness(source: dict) -> bool:
    freshness = source.get("freshness") or {}
    limits = (freshness.get("warn_after") or {}, freshness.get("error_after") or {})
    return any(limit.get("count") is not None for limit in limits)


def _folder(node: dict, project: str) -> str:
    """`models/marts/core/x.sql` → `marts/core`; what lies in no folder of models is in one named after its kind."""
    parts = posixpath.dirname((node.get("original_file_path") or "").replace("\\", "/")).split("/")
    inner = "/".join(parts[1:]) if node["resource_type"] == "model" else "/".join(parts)
    folder = inner or {"model": "models", "seed": "seeds", "snapshot": "snapshots"}.get(node["resource_type"], "")
    return folder if node["package_name"] == project else f"{node['package_name']}/{folder}"
