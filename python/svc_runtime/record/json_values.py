"""What is plain JSON: values of params cross the REST API, and their schemas are read there."""

from __future__ import annotations

import datetime
import json
from collections.abc import KeysView, Mapping, ValuesView

# Words of JSON Schema whose values are numbers, text, lists or objects; a function among them means nothing to anybody.
_SCHEMA_WORDS = frozenset(
    "type enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern format items "
    "minItems maxItems uniqueItems properties required additionalProperties anyOf oneOf allOf not default examples".split()
)


class NotJson(TypeError):
    def __init__(self, value) -> None:
        text = repr(value)
        super().__init__(text if len(text) <= 200 else text[:200] + "…")
        self.kind = type(value).__name__


def plain(value):
    """As JSON has it: tuples are lists, keys are text. Raises NotJson for what JSON has not, NaN and infinities included."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        raise NotJson(value) from None


def plain_schema(schema) -> dict:
    """A schema may be written with more than JSON has: sets, ranges, views, dates; a function stands for its name."""
    return {str(word): _schema_value(value, word in _SCHEMA_WORDS) for word, value in dict(schema).items()}


def _schema_value(value, is_known: bool):
    if isinstance(value, (set, frozenset)):
        return sorted((_schema_value(item, is_known) for item in value), key=lambda item: (str(type(item)), str(item)))
    if isinstance(value, (list, tuple, range, KeysView, ValuesView)):
        return [_schema_value(item, is_known) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _schema_value(item, is_known) for key, item in value.items()}
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if callable(value) and not is_known:
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    return plain(value)
