"""Describes the public names of Airflow's task SDK and standard provider: `python public_names.py <file>` in an Airflow.
With names behind the file, it describes only these names of the task SDK.

The description contains what authors depend on: whether a name is a class, a function or a value, its parameters, and
the public methods and attributes of a class. tests/test_public_names.py compares it with the names here.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from collections.abc import Collection
from typing import Any

SDK = "airflow.sdk"
STANDARD = "airflow.providers.standard"
# Modules without names for authors: examples, tables, and information for Airflow's own installer.
_NOT_FOR_AUTHORS = ("example_dags", "models", "get_provider_info", "version_compat")
_SIMPLE = (bool, int, float, str, type(None))
_UNNAMED = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def names_of_sdk(wanted: list[str]) -> dict[str, dict[str, object]]:
    module = importlib.import_module(SDK)
    named = {name: getattr(module, name) for name in wanted}
    classes = {value for value in named.values() if inspect.isclass(value)}
    return {SDK: {name: describe(value, classes) for name, value in named.items()}}


def public_names() -> dict[str, dict[str, object]]:
    """Describes the names of each module of the installed packages. Only these know all of their modules."""
    import pkgutil

    provider = importlib.import_module(STANDARD)
    found = (module.name for module in pkgutil.walk_packages(provider.__path__, f"{STANDARD}."))
    modules = sorted(name for name in found if name.split(".")[3] not in _NOT_FOR_AUTHORS)
    named = {name: _names(name) for name in (SDK, *modules)}
    classes = {value for names in named.values() for value in names.values() if inspect.isclass(value)}
    return {name: {each: describe(value, classes) for each, value in names.items()} for name, names in named.items()}


def _names(name: str) -> dict[str, object]:
    module = importlib.import_module(name)
    if name == SDK:
        return {each: _public(module, each) for each in sorted(module.__all__)}
    return {
        each: value
        for each, value in sorted(vars(module).items())
        if not each.startswith("_") and getattr(value, "__module__", None) == name
    }


def _public(module: Any, name: str) -> object:
    """Airflow 3.3 lists `lineage`, a module that is no attribute until it is imported."""
    try:
        return getattr(module, name)
    except AttributeError:
        return importlib.import_module(f"{module.__name__}.{name}")


def describe(value: object, described: Collection[type] = ()) -> object:
    """Leaves out what a class inherits from Python's own classes, or from classes that are described themselves."""
    if inspect.isclass(value):
        bases = [base for base in value.__mro__[1:] if base in described or not base.__module__.startswith("airflow")]
        names = (name for name in dir(value) if not name.startswith("_"))
        own = {name: member(value, name) for name in names if not any(hasattr(base, name) for base in bases)}
        return {"parameters": _parameters(value.__init__), "has": own}
    return {"parameters": _parameters(value)} if inspect.isroutine(value) else "value"


def member(owner: type, name: str) -> object:
    value = inspect.getattr_static(owner, name)
    if isinstance(value, (classmethod, staticmethod)):
        value = value.__func__
    return _parameters(value) if inspect.isfunction(value) else "value"


def _parameters(function: Any) -> list[str] | None:
    """Returns parameters as written: `name`, `name=5`, `*`, `**`. A default that is no simple value is written as `…`."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    return [_parameter(each) for each in signature.parameters.values() if each.name not in ("self", "cls")]


def _parameter(parameter: inspect.Parameter) -> str:
    if parameter.kind in _UNNAMED:
        return _UNNAMED[parameter.kind]
    if parameter.default is inspect.Parameter.empty:
        return parameter.name
    default = parameter.default
    return f"{parameter.name}={default!r}" if type(default) in _SIMPLE else f"{parameter.name}=…"


if __name__ == "__main__":
    # Into a file, because Airflow prints on import. One line for each name keeps changes readable.
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        modules = [
            f"{json.dumps(module)}: {{\n"
            + ",\n".join(
                f"{json.dumps(name)}: {json.dumps(about, ensure_ascii=False)}" for name, about in names.items()
            )
            + "\n}"
            for module, names in (names_of_sdk(sys.argv[2:]) if sys.argv[2:] else public_names()).items()
        ]
        file.write("{\n" + ",\n".join(modules) + "\n}\n")
