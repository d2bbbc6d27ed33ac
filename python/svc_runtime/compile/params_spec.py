"""Params as an ordered list (the trigger form shows them in this order), each with default and JSON Schema."""

from __future__ import annotations

from ..exceptions import RecordingError
from ..record.notset import NOTSET
from .encode import Encoder


def params_spec(params, encoder: Encoder, source: str) -> list:
    listed = []
    for name, param in params.param_items():
        entry = {
            "name": name,
            "schema": _plain(param.schema, encoder, f"the schema of param {name!r}"),
            "description": param.description,
            "source": param.source or source,
            "has_default": param.value is not NOTSET,
        }
        if param.value is not NOTSET:
            entry["default"] = _plain(param.value, encoder, f"the default of param {name!r}")
        listed.append(entry)
    return listed


def _plain(value, encoder: Encoder, what: str):
    """Params cross the REST API, so they must be plain JSON; tuples and sets are allowed as lists."""
    encoded = encoder.encode(value)

    def strip(node):
        if isinstance(node, list):
            return [strip(item) for item in node]
        if isinstance(node, dict):
            tag = node.get("__type")
            if tag in ("tuple", "set"):
                return [strip(item) for item in node["items"]]
            if tag in ("datetime", "date", "time"):
                return node["value"]
            if tag is not None:
                raise RecordingError(
                    f"{what} is not a JSON value ({tag})", "Use text, numbers, booleans, lists or objects"
                )
            return {key: strip(item) for key, item in node.items()}
        return node

    return strip(encoded)
