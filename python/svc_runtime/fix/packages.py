"""Modules that a file needs from outside: not Python's own, not Airflow's own, not the repository's."""

from __future__ import annotations

import ast
import sys

from ..old_import_paths import present_path
from .places import File

# What compiling and running always bring.
_BROUGHT = {"airflow", "svc_runtime", "jinja2", "pendulum", "dateutil", "__future__"}
_OWN_PROVIDERS = ("airflow.providers.standard", "airflow.providers.common.compat")


def _homes(module: str, node: ast.ImportFrom) -> list[str]:
    """Where the names are now: an old path may lead to a provider."""
    paths = [present_path(module, alias.name) for alias in node.names]
    return list(dict.fromkeys(path.rpartition(".")[0] if path else module for path in paths))


def outside_modules(file: File, own: frozenset[str]) -> list[dict]:
    """Each once, with its first line, and whether loading the file needs it. `own`: names of modules of the repository."""
    found: dict[str, dict] = {}
    for place in file.places:
        node = place.node
        if place.guarded or not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            names = [] if node.level or node.module is None else _homes(node.module, node)
        for name in names:
            top = name.partition(".")[0]
            is_provider = name.startswith("airflow.providers.") and not name.startswith(_OWN_PROVIDERS)
            if not is_provider and (top in _BROUGHT or top in own or top in sys.stdlib_module_names):
                continue
            known = found.setdefault(name, {"module": name, "line": node.lineno, "at_load": False})
            known["at_load"] = known["at_load"] or place.function is None
    return sorted(found.values(), key=lambda module: module["line"])
