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
    return _masker.redact(value, name, max_depth, replacement)


def merge(new_value, old_value, name: str | None = None, max_depth: int | None = None):
    """What somebody sent back: where it still says ***, the old value stays."""
    if isinstance(new_value, dict) and isinstance(old_value, dict):
        return {key: merge(item, old_value.get(key), str(key)) for key, item in new_value.items()}
    return old_value if new_value == MASK else new_value


class SecretsMasker:
    """Of the process: there is one list of what to hide, which the copies that providers make of it use, too."""

    replacer = None

    def __init__(self) -> None:
        self.patterns: set[str] = set()

    def add_mask(self, secret, name: str | None = None) -> None:
        mask_secret(secret, name)

    def redact(self, item, name: str | None = None, max_depth: int | None = None, replacement: str = MASK):
        return self._redact(item, name, 0, max_depth or _MAX_DEPTH, replacement=replacement)

    def _redact(self, item, name: str | None, depth: int, max_depth: int, replacement: str = MASK, **_):
        """What providers override to treat their own kinds of values, wherever in a value they are."""
        if depth > max_depth or item is None:
            return item
        if name and should_hide_value_for_key(name):
            return self._redact_all(item, depth, max_depth, replacement=replacement)
        if isinstance(item, str):
            hidden = masks.apply(item)
            return hidden if replacement == MASK else hidden.replace(MASK, replacement)

        def inner(value, key: str | None = None):
            return self._redact(value, key, depth + 1, max_depth, replacement=replacement)

        if isinstance(item, dict):
            return {key: inner(value, str(key)) for key, value in item.items()}
        if isinstance(item, tuple):
            return tuple(inner(value) for value in item)
        if isinstance(item, (list, set)):
            return [inner(value) for value in item]
        return item

    def _redact_all(self, item, depth: int, max_depth: int, replacement: str = MASK):
        """Under a name that says that it is secret."""
        if isinstance(item, dict) and depth <= max_depth:
            return {key: self._redact_all(value, depth + 1, max_depth, replacement) for key, value in item.items()}
        if isinstance(item, (list, tuple, set)) and depth <= max_depth:
            return type(item)(self._redact_all(value, depth + 1, max_depth, replacement) for value in item)
        return item if item in (None, "") or isinstance(item, bool) else replacement

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
