"""`python make_stubs.py <folder>`: writes the package `airflow-stubs`, for the wheel.

Most paths under `airflow.` are rows of a table (svc_runtime/import_paths.py), which no editor and no type checker reads.
A stub for each says where its names really are.
"""

from __future__ import annotations

import os
import sys

from svc_runtime.import_paths import CONSTANTS, HOME, MODULES

# What a type checker cannot infer from our code. `task` has attributes such as `branch`, and returns what fits anywhere.
_TYPED = "airflow._typed"
_DECLARED = {"dag", "task", "task_group", "setup", "teardown", "asset"}
_DECLARATIONS = """\
from collections.abc import Callable
from typing import Any, ParamSpec, overload

from svc_runtime.record.dag import DAG

_P = ParamSpec("_P")

@overload
def dag(dag_id: Callable[_P, Any], /) -> Callable[_P, DAG]: ...
@overload
def dag(dag_id: str | None = ..., **kwargs: Any) -> Callable[[Callable[_P, Any]], Callable[_P, DAG]]: ...

task: Any
task_group: Any
setup: Any
teardown: Any
asset: Any
"""


def stub_of(path: str) -> str:
    entry = MODULES[path]
    lines = [f"{name}: {type(value).__name__}" for name, value in CONSTANTS.get(path, {}).items()]
    if entry.startswith("="):
        lines.append(f"from {entry[1:]} import *")
    else:
        lines += [_import_of(name) for name in entry.split()]
    return "".join(f"{line}\n" for line in lines)


def _import_of(name: str) -> str:
    if name in _DECLARED:
        return f"from {_TYPED} import {name} as {name}"
    module, colon, other = HOME[name].partition(":")
    if colon and not other:
        parent, _, other = module.rpartition(".")
        module = parent
    return f"from {module} import {other or name} as {name}"


def write_stubs(folder: str) -> None:
    root = os.path.join(folder, "airflow-stubs")
    for path in MODULES:
        place = os.path.join(root, *path.split(".")[1:])
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, "__init__.pyi"), "w", encoding="utf-8") as file:
            file.write(stub_of(path))
    with open(os.path.join(root, "_typed.pyi"), "w", encoding="utf-8") as file:
        file.write(_DECLARATIONS)
    # The standard operators are real files, in the package itself.
    with open(os.path.join(root, "py.typed"), "w", encoding="utf-8") as file:
        file.write("partial\n")


if __name__ == "__main__":
    write_stubs(sys.argv[1])
