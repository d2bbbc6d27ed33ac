"""The files of `conn_file_path` and `variable_file_path`: JSON, YAML or lines of `NAME=value`, as Airflow reads them."""

from __future__ import annotations

import json
import os

from ..exceptions import AirflowException

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FIELDS = {"conn_type", "description", "host", "login", "password", "schema", "port", "extra", "uri", "conn_id"}


def read_variables(path: str | None) -> dict[str, str]:
    found = _read(path)
    return {name: variable_of(value) for name, value in found.items()}


def variable_of(value) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def read_connections(path: str | None) -> dict[str, Any]:
    """Values are URIs, or the fields of a connection."""
    return {name: connection_of(path, name, value) for name, value in _read(path).items()}


def connection_of(path: str | None, name: str, value):
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        if not value.lstrip().startswith("{"):
            return value
        value = json.loads(value)
    if not isinstance(value, dict):
        raise AirflowException(f"{path}: connection {name} must be a URI or an object, not a {type(value).__name__}")
    fields = dict(value)
    if "extra_dejson" in fields:
        fields["extra"] = fields.pop("extra_dejson")
    unknown = sorted(set(fields) - _FIELDS)
    if unknown:
        raise AirflowException(f"{path}: connection {name} has unknown fields: {', '.join(unknown)}")
    if "uri" in fields:
        return fields["uri"]
    if isinstance(fields.get("extra"), dict):
        fields["extra"] = json.dumps(fields["extra"])
    return fields


def _read(path: str | None) -> dict[str, Any]:
    if path is None:
        return {}
    with open(path, encoding="utf-8") as file:
        text = file.read()
    kind = os.path.splitext(path)[1].lower()
    if kind == ".json":
        found = json.loads(text or "{}")
    elif kind in (".yaml", ".yml"):
        found = _yaml(path, text)
    elif kind == ".env":
        found = _lines(path, text)
    else:
        raise AirflowException(f"{path}: the name must end in .json, .yaml, .yml or .env")
    if not isinstance(found, dict):
        raise AirflowException(f"{path}: the file must have an object of names and values")
    return found


def _yaml(path: str, text: str):
    try:
        import yaml
    except ModuleNotFoundError:
        raise AirflowException(
            f"{path}: reading YAML needs PyYAML. Install it (pip install pyyaml) or use JSON"
        ) from None
    return yaml.safe_load(text) or {}


def _lines(path: str, text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, mark, value = line.partition("=")
        if not mark or not name.strip():
            raise AirflowException(f"{path}:{number}: expected NAME=value")
        found[name.strip()] = value.strip()
    return found
