"""Params as an ordered list (the trigger form shows them in this order), each with default and JSON Schema."""

from __future__ import annotations

from ..record.json_values import plain
from ..record.notset import NOTSET
from .encode import Encoder


def params_spec(params, encoder: Encoder, source: str) -> list:
    listed = []
    for name, param in params.param_items():
        entry = {
            "name": name,
            "schema": encoder.encode(param.schema),
            "description": param.description,
            "source": param.source or source,
            "has_default": param.value is not NOTSET,
        }
        if param.value is not NOTSET:
            entry["default"] = encoder.encode(plain(param.value))
        listed.append(entry)
    return listed
