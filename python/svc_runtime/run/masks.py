"""Secret values, replaced by *** wherever text leaves the task: log records, rendered fields, failure texts."""

from __future__ import annotations

import functools
import json
import re
from urllib.parse import quote

MASK = "***"
# Shorter values are words of ordinary text; masking them would only make logs unreadable.
_SHORTEST = 5
_SENSITIVE = re.compile(
    "secret|password|passwd|passphrase|token|apikey|api_key|access_key|private_key|authorization|credential|keyfile",
    re.IGNORECASE,
)


@functools.lru_cache(1024)
def _is_sensitive(name: str) -> bool:
    return bool(_SENSITIVE.search(name))


def is_sensitive_name(name) -> bool:
    return isinstance(name, str) and _is_sensitive(name)


class Masks:
    def __init__(self) -> None:
        self._values: set[str] = set()
        self._pattern: re.Pattern | None = None

    def add(self, value, *, shortest: int = _SHORTEST) -> None:
        """A text and its usual spellings; in containers, every text."""
        if isinstance(value, dict):
            for item in value.values():
                self.add(item, shortest=shortest)
            return
        if isinstance(value, (list, tuple, set, frozenset)):
            for item in value:
                self.add(item, shortest=shortest)
            return
        if not isinstance(value, str) or value == MASK:
            return
        found = {value.strip(), quote(value, safe=""), json.dumps(value)[1:-1], repr(value)[1:-1]}
        # Logs are kept line by line, so a key of several lines must be found in each of them; not in every brace, though.
        found.update(line.strip() for line in value.splitlines())
        fresh = {text for text in found if len(text) >= _SHORTEST} - self._values
        if len(value) >= shortest:
            fresh.add(value)
        if fresh:
            self._values |= fresh
            self._pattern = None

    def add_variable(self, text: str) -> None:
        """The value of a variable with a sensitive name; of a JSON one, its texts too."""
        self.add(text)
        try:
            self.add(json.loads(text))
        except ValueError:
            pass

    def add_connection(self, connection) -> None:
        self.add(connection.password)
        for name, value in connection.extra_dejson.items():
            if is_sensitive_name(name):
                self.add(value)

    def apply(self, text: str) -> str:
        if not self._values:
            return text
        if self._pattern is None:
            # The longest first: a password that contains another one must not leave its tail behind.
            self._pattern = re.compile("|".join(map(re.escape, sorted(self._values, key=len, reverse=True))))
        return self._pattern.sub(MASK, text)

    def apply_deep(self, value, name: str = ""):
        """In JSON values; what stands under a sensitive name is hidden whatever it is."""
        if name and is_sensitive_name(name) and value not in (None, "", [], {}):
            return MASK
        if isinstance(value, str):
            return self.apply(value)
        if isinstance(value, dict):
            found = {}
            for key, item in value.items():
                found[self.apply(str(key))] = self.apply_deep(item, str(key))
            return found
        if isinstance(value, list):
            return [self.apply_deep(item) for item in value]
        return value


# One task per process: its masks are the process's masks, so that `mask_secret()` anywhere reaches them.
masks = Masks()
