"""Uses of what no longer exists: refused at their line, since every run of such a task would fail."""

from __future__ import annotations

import ast

from ..old_import_paths import GONE as GONE_MODULES
from ..old_import_paths import GONE_NAMES, ONLY_IN_NEWER_PROVIDERS, moved
from .findings import GONE, OLD, Finding
from .places import File, Place

_QUERIES = {"query", "select", "delete", "update", "insert", "add", "merge", "select_from"}


def scan_gone(file: File) -> list[Finding]:
    found: list[Finding] = []
    for place in file.places:
        if place.guarded or place.annotation:
            continue
        if isinstance(place.node, (ast.Import, ast.ImportFrom)):
            found += _imports(place.node)
        elif isinstance(place.node, (ast.Name, ast.Attribute)) and not isinstance(place.parent, ast.Attribute):
            finding = _use(file, place)
            if finding is not None:
                found.append(finding)
    return found


def _imports(node: ast.Import | ast.ImportFrom) -> list[Finding]:
    """A module that is gone, whatever is taken from it; what moved is told as an old spelling."""
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names if alias.name not in moved()]
    elif node.level or node.module is None or node.module in moved():
        return []
    else:
        inner = [f"{node.module}.{alias.name}" for alias in node.names]
        if all(name in moved() for name in inner):
            return []
        modules = [node.module, *inner]
    for module in modules:
        advice = _advice(module)
        if advice:
            return [Finding(GONE, node, old=module, instead=advice)]
    return []


def _advice(module: str) -> str:
    below = [advice for gone, advice in GONE_MODULES.items() if module == gone or module.startswith(gone + ".")]
    return below[0] if below else ""


def _use(file: File, place: Place) -> Finding | None:
    path = file.path(place.node)
    if path is None or not path.startswith("airflow."):
        return None
    name = next((key for key in _prefixes(path) if key in GONE_NAMES), None)
    if name is None:
        return None
    root = place.node
    while isinstance(root, ast.Attribute):
        root = root.value
    binding = file.binding(root.id) if isinstance(root, ast.Name) else None
    if binding is None or binding.place.guarded or not (path != name or _is_acted_on(place)):
        return None
    if name.startswith(ONLY_IN_NEWER_PROVIDERS):
        return Finding(OLD, place.node, old=name, by_hand=GONE_NAMES[name])
    what = name.rpartition(".")[2] + path.removeprefix(name)
    return Finding(GONE, place.node, old=what, instead=GONE_NAMES[name])


def _prefixes(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 2, -1)]


def _is_acted_on(place: Place) -> bool:
    """Called, decorating, or part of a query; not merely compared with or named in a hint."""
    parent = place.parent
    if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return place.node in parent.decorator_list
    if not isinstance(parent, ast.Call):
        return False
    if parent.func is place.node:
        return True
    called = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
    return called in _QUERIES
