"""Describes the installed packages of Airflow: `python describe_packages.py <folder of public_names.py> <file>`.

The description has their versions, the public names of the task SDK and the standard provider, the calls and models of the
Python client, and the commands of airflowctl with their arguments.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import inspect
import json
import os
import pkgutil
import sys

PACKAGES = (
    "apache-airflow-core",
    "apache-airflow-task-sdk",
    "apache-airflow-providers-standard",
    "apache-airflow-client",
    "apache-airflow-ctl",
)
# The client has each call three times.
_VARIANTS = ("_with_http_info", "_without_preload_content")


def names() -> dict[str, str]:
    import public_names

    found: dict[str, str] = {}
    for module, described in public_names.public_names().items():
        for name, about in described.items():
            found[f"{module}.{name}"] = _text(about["parameters"] if isinstance(about, dict) else about)
            members = about.get("has", {}) if isinstance(about, dict) else {}
            found.update({f"{module}.{name}.{each}": _text(member) for each, member in members.items()})
    return found


def _text(described: object) -> str:
    return f"({', '.join(described)})" if isinstance(described, list) else str(described)


def client() -> dict[str, str]:
    import airflow_client.client.api as api
    import airflow_client.client.models as models

    found: dict[str, str] = {}
    for module in pkgutil.iter_modules(api.__path__):
        for owner, members in _classes(importlib.import_module(f"{api.__name__}.{module.name}")):
            for name, value in members:
                if inspect.isfunction(value) and not name.startswith("_") and not name.endswith(_VARIANTS):
                    parameters = [each for each in inspect.signature(value).parameters if not each.startswith("_")]
                    found[f"{owner}.{name}"] = f"({', '.join(parameters[1:])})"
    for module in pkgutil.iter_modules(models.__path__):
        for owner, _ in _classes(importlib.import_module(f"{models.__name__}.{module.name}")):
            found.update(_fields(owner, getattr(sys.modules[f"{models.__name__}.{module.name}"], owner)))
    return found


def _classes(module) -> list[tuple[str, list[tuple[str, object]]]]:
    return [
        (name, list(vars(value).items()))
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__
    ]


def _fields(owner: str, model: type) -> dict[str, str]:
    if hasattr(model, "model_fields"):
        return {
            f"{owner}.{name}": "required" if field.is_required() else "optional"
            for name, field in model.model_fields.items()
        }
    members = getattr(model, "__members__", {})
    return {owner: ", ".join(str(member.value) for member in members.values())}


def commands() -> dict[str, str]:
    from airflowctl.ctl import cli_parser

    found: dict[str, str] = {}

    def walk(parser: argparse.ArgumentParser, path: tuple[str, ...]) -> None:
        actions = [each for each in parser._actions if not isinstance(each, argparse._HelpAction)]
        for action in actions:
            if isinstance(action, argparse._SubParsersAction):
                for name, command in action.choices.items():
                    walk(command, (*path, name))
                return
        found[" ".join(path)] = " ".join("/".join(each.option_strings) or each.dest for each in actions)

    walk(cli_parser.get_parser(), ())
    return found


def documents() -> dict[str, str]:
    import airflow.api_fastapi.core_api.openapi as openapi

    folder = os.path.dirname(openapi.__file__)
    names = {"openapi": "v2-rest-api-generated.yaml", "openapi of the web UI": "_private_ui.yaml"}
    return {part: os.path.join(folder, name) for part, name in names.items()}


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    described = {"versions": versions, "names": names(), "client": client(), "airflowctl": commands()}
    described["documents"] = documents()
    # Into a file, because Airflow prints on import.
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(described, file)
