"""`airflow.sdk._shared.secrets_masker`: the names by which providers hide values, on our own masks."""

from __future__ import annotations

from ..run.helpers import mask_secret
from ..run.masks import is_sensitive_name, masks
from ..run.sensitive_names import SENSITIVE_PARTS

__all__ = ["mask_secret", "merge", "redact", "should_hide_value_for_key"]

MASK = "***"
DEFAULT_SENSITIVE_FIELDS = frozenset(SENSITIVE_PARTS.split("|"))
Redactable = object
Redacted = object
_MAX_DEPTH = 5


def should_hide_value_for_key(name) -> bool:
    return is_sensitive_name(name)


def redact(value, name: str | None = None, max_depth: int | None = None, replacement: str = MASK):
    """The same value with every secret in it hidden, to the given depth."""
    return _redact(value, name, max_depth or _MAX_DEPTH, replacement)


def _redact(value, name: str | None, depth: int, replacement: str):
    if depth < 0 or value is None:
        return value
    if name and should_hide_value_for_key(name):
        return _hidden(value, replacement)
    if isinstance(value, dict):
        return {key: _redact(item, str(key), depth - 1, replacement) for key, item in value.items()}
    if isinstance(value, str):
        hidden = masks.apply(value)
        return hidden if replacement == MASK else hidden.replace(MASK, replacement)
    if isinstance(value, tuple):
        return tuple(_redact(item, None, depth - 1, replacement) for item in value)
    if isinstance(value, (list, set)):
        return [_redact(item, None, depth - 1, replacement) for item in value]
    return value


def _hidden(value, replacement: str):
    if isinstance(value, dict):
        return {key: _hidden(item, replacement) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return type(value)(_hidden(item, replacement) for item in value)
    return value if value in (None, "") or isinstance(value, bool) else replacement


def merge(new_value, old_value, name: str | None = None, max_depth: int | None = None):
    """What somebody sent back: where it still says ***, the old value stays."""
    if isinstance(new_value, dict) and isinstance(old_value, dict):
        return {key: merge(item, old_value.get(key), str(key)) for key, item in new_value.items()}
    return old_value if new_value == MASK else new_value


class SecretsMasker:
    """Of the process: there is one list of what to hide."""

    replacer = None

    def add_mask(self, secret, name: str | None = None) -> None:
        mask_secret(secret, name)

    def redact(self, item, name: str | None = None, max_depth: int | None = None, replacement: str = MASK):
        return redact(item, name, max_depth, replacement)

    # What providers override to treat their own kinds of values.
    def _redact(self, item, name: str | None, depth: int, max_depth: int, replacement: str = MASK, **_):
        return _redact(item, name, max_depth - depth, replacement)

    def merge(self, new_item, old_item, name: str | None = None, max_depth: int | None = None):
        return merge(new_item, old_item, name, max_depth)

    @staticmethod
    def should_hide_value_for_key(name) -> bool:
        return should_hide_value_for_key(name)


_masker = SecretsMasker()


def _secrets_masker() -> SecretsMasker:
    return _masker


def reset_secrets_masker() -> None:
    """Secrets of a running task stay hidden: nothing is forgotten."""
