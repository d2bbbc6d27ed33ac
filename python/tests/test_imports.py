"""Which package may import which: arrows point downward only, and no two modules need each other.

Read from the files, so imports inside functions count as well. The tables of import_paths.py and the lists of modules to
preload are texts that name modules, not imports; they exist so that what they name is loaded when somebody asks for it.
"""

from __future__ import annotations

import ast
import graphlib
import os
import unittest

from . import PYTHON

# Every arrow between packages there is: one that is missing here is a mistake in the code, one that nobody uses a mistake here.
ARROWS: dict[str, set[str]] = {
    "svc_runtime.compile_server": {"svc_runtime.compile"},
    "svc_runtime.bundle_path": {"svc_runtime.import_names"},
    "svc_runtime.compile": {
        "airflow",
        "svc_runtime.ask_timetable",
        "svc_runtime.bundle_path",
        "svc_runtime.dbt",
        "svc_runtime.enums",
        "svc_runtime.fix",
        "svc_runtime.package_names",
        "svc_runtime.plugins",
        "svc_runtime.record",
        # How values of start triggers are written down, which a task reads back.
        "svc_runtime.run",
        "svc_runtime.exceptions",
    },
    # At the top: it runs what the others record, and compiles it for the engine.
    "svc_runtime.dag_test": {
        "svc_runtime.ask_timetable",
        "svc_runtime.compile",
        "svc_runtime.enums",
        "svc_runtime.exceptions",
        "svc_runtime.record",
        "svc_runtime.run",
        "svc_runtime.triggerer",
    },
    # Above it: runs of tests of pytest, on a clock that moves.
    "svc_runtime.testing": {
        "airflow",
        "svc_runtime.ask_timetable",
        "svc_runtime.bundle_path",
        "svc_runtime.dag_test",
        "svc_runtime.enums",
        "svc_runtime.exceptions",
        "svc_runtime.record",
        "svc_runtime.run",
        "svc_runtime.triggerer",
    },
    "svc_runtime.fix": {"svc_runtime.enums", "svc_runtime.old_import_paths"},
    "svc_runtime.import_paths": {
        "svc_runtime.old_import_paths",
        "svc_runtime.provider_import_paths",
        "svc_runtime.refused_modules",
        "svc_runtime.sdk_import_paths",
    },
    "svc_runtime.for_sdk": {"svc_runtime.decorators", "svc_runtime.record", "svc_runtime.run"},
    "svc_runtime.old_import_paths": {"svc_runtime.exceptions"},
    "svc_runtime.run_server": {
        "airflow",
        "svc_runtime.bundle_path",
        "svc_runtime.plugins",
        "svc_runtime.record",
        "svc_runtime.run",
        "svc_runtime.triggerer",
        "svc_runtime.import_paths",
    },
    "svc_runtime.plugins": {
        "svc_runtime.exceptions",
        "svc_runtime.package_names",
        "svc_runtime.record",
        "svc_runtime.run",
    },
    "svc": {"airflow", "svc_runtime.dbt", "svc_runtime.one_airflow", "svc_runtime.steps", "svc_runtime.testing"},
    "svc_runtime.steps": {"svc_runtime.run"},
    "cosmos": {"svc_runtime.dbt", "svc_runtime.exceptions", "svc_runtime.record"},
    "svc_runtime.dbt": {
        "svc_runtime.bundle_path",
        "svc_runtime.exceptions",
        "svc_runtime.record",
        "svc_runtime.run",
    },
    "svc_runtime.ask_mapper": {"svc_runtime.record", "svc_runtime.exceptions"},
    "svc_runtime.ask_timetable": {"svc_runtime.record", "svc_runtime.enums", "svc_runtime.exceptions"},
    "svc_runtime.triggerer": {"svc_runtime.run"},
    "svc_runtime.test_connection": {"airflow", "svc_runtime.run", "svc_runtime.import_paths"},
    "svc_runtime.decorators": {"airflow", "svc_runtime.record", "svc_runtime.run", "svc_runtime.exceptions"},
    "svc_runtime.for_providers": {"svc_runtime.record", "svc_runtime.run", "svc_runtime.exceptions"},
    "airflow": {
        "svc_runtime.record",
        "svc_runtime.run",
        "svc_runtime.enums",
        "svc_runtime.exceptions",
        "svc_runtime.import_paths",
        "svc_runtime.one_airflow",
    },
    "svc_runtime.run": {
        "svc_runtime.ask_mapper",
        "svc_runtime.ask_timetable",
        "svc_runtime.record",
        "svc_runtime.enums",
        "svc_runtime.exceptions",
    },
    "svc_runtime.record": {"svc_runtime.enums", "svc_runtime.exceptions", "svc_runtime.import_paths"},
}


def _modules() -> dict[str, str]:
    """Dotted name and path of every module; a package has its own name."""
    found = {}
    for top in ("airflow", "cosmos", "svc", "svc_runtime"):
        for folder, _, files in os.walk(os.path.join(PYTHON, top)):
            for file in files:
                if file.endswith(".py"):
                    path = os.path.join(folder, file)
                    dotted = os.path.relpath(path, PYTHON)[: -len(".py")].replace(os.sep, ".")
                    found[dotted.removesuffix(".__init__")] = path
    return found


def _imported(tree: ast.AST, package: str, modules: dict[str, str]) -> set[str]:
    """What a file imports of ours, wherever in it. `from package import name` is the module `name` where there is one."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                base = ".".join([*parents[: len(parents) - node.level + 1], *filter(None, [node.module])])
            names.update(name if (name := f"{base}.{alias.name}") in modules else base for alias in node.names)
    return names & modules.keys()


def _graph() -> dict[str, set[str]]:
    modules = _modules()
    graph = {}
    for name, path in modules.items():
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read(), path)
        package = name if path.endswith("__init__.py") else name.rpartition(".")[0]
        graph[name] = _imported(tree, package, modules) - {name}
    return graph


def _package(module: str) -> str:
    top = module.partition(".")[0]
    return ".".join(module.split(".")[:2]) if top == "svc_runtime" else top


def _a_circle(graph: dict[str, set[str]]) -> list[str]:
    """The names along one circle, the first one again at its end; empty when there is none."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


class Imports(unittest.TestCase):
    def test_no_module_needs_itself_on_a_detour(self) -> None:
        self.assertEqual(_a_circle(_graph()), [])

    def test_packages_import_exactly_what_the_table_says(self) -> None:
        found: dict[str, set[str]] = {}
        for module, imported in _graph().items():
            for other in imported:
                if _package(other) != _package(module):
                    found.setdefault(_package(module), set()).add(_package(other))
        self.assertEqual(found, ARROWS)

    def test_the_table_has_no_circle(self) -> None:
        self.assertEqual(_a_circle(ARROWS), [])

    def test_an_import_in_a_function_and_a_relative_one_are_seen(self) -> None:
        modules = {"a.b.c": "", "a.b": "", "a.d": "", "e": ""}
        text = "def f():\n  from . import c\n  from ..d import x\n  import e, os\nfrom .. import b"
        self.assertEqual(_imported(ast.parse(text), "a.b", modules), {"a.b.c", "a.d", "e", "a.b"})

    def test_a_circle_of_three_is_found(self) -> None:
        circle = _a_circle({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}})
        self.assertEqual([len(circle), set(circle), circle[0]], [4, {"a", "b", "c"}, circle[-1]])
        self.assertEqual(_a_circle({"a": {"b", "c"}, "b": {"c"}}), [])


if __name__ == "__main__":
    unittest.main()
