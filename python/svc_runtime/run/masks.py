"""Secrets, replaced by *** wherever text leaves the task: log records, rendered fields, failure texts.

By value, for all that the task was given; and by pattern, for credentials that nobody told us about. Which values are looked
for is the same everywhere (packages/spec/masking/rules.ts): not those that are words of ordinary text.
"""

from __future__ import annotations

import base64
import functools
import json
import re

from .credential_patterns import MASK, mask_credentials
from .masking_rules import COMMON_WORDS, MIN_DIGITS, MIN_LINE_LENGTH, MIN_VALUE_LENGTH
from .sensitive_names import SENSITIVE_PARTS

_SENSITIVE = re.compile(SENSITIVE_PARTS, re.IGNORECASE)


@functools.lru_cache(1024)
def _is_sensitive(name: str) -> bool:
    return bool(_SENSITIVE.search(name))


def is_sensitive_name(name) -> bool:
    return isinstance(name, str) and _is_sensitive(name)


def is_maskable(value: str) -> bool:
    text = value.strip()
    if len(text) < MIN_VALUE_LENGTH or text == MASK:
        return False
    if text.lower() in COMMON_WORDS and text in (text.lower(), text.upper(), text[0] + text[1:].lower()):
        return False
    return len(text) >= MIN_DIGITS or not (text.isascii() and text.isdigit())


def texts_in(value) -> list[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple, set, frozenset)):
        return []
    return [text for item in value for text in texts_in(item)]


def secrets_of_variable(text: str) -> list[str]:
    """Its value; of a JSON one, its texts too."""
    try:
        return [text, *texts_in(json.loads(text))]
    except ValueError:
        return [text]


def secrets_of_connection(connection) -> list[str]:
    sensitive = [value for name, value in connection.extra_dejson.items() if is_sensitive_name(name)]
    return texts_in([connection.password, sensitive])


# What may be base64 of a text with a secret in it: a Basic header, a Kubernetes secret.
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
_TO_STANDARD = str.maketrans("-_", "+/")


def _decoded(run: str) -> str | None:
    plain = run.rstrip("=").translate(_TO_STANDARD)
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4)).decode()
    except ValueError:  # not base64, or not of text: what is said here is most often neither
        return None


# How many characters lead to the secrets that begin with them.
_HEAD = 4
# When they begin with few different characters, those are looked for first; with more, they would be found everywhere.
_FEW = 16


class Masks:
    """
    Found by how they begin, not by one pattern of them all: the pattern of 300 took 13 ms to compile, in each attempt that had
    anything to say, and 0.13 ms for each line of its log. Now it is 0.2 ms, and 0.04 for a line however many there are. Those with the same beginning are told apart by their lengths: keys of one kind
    all begin alike, and there are many of them.
    """

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._by_head: dict[str, list] | None = None
        self._head_lengths: list[int] = []
        self._first: re.Pattern | None = None

    def add(self, value) -> None:
        """A text and its usual spellings; in containers, every text."""
        if isinstance(value, dict):
            for item in value.values():
                self.add(item)
            return
        if isinstance(value, (list, tuple, set, frozenset)):
            for item in value:
                self.add(item)
            return
        if not isinstance(value, str) or not is_maskable(value):
            return
        from urllib.parse import quote  # loaded by who has something to mask

        found = {value.strip(), quote(value.strip(), safe=""), json.dumps(value)[1:-1], repr(value)[1:-1], value}
        # Logs are kept line by line, so a key of several lines must be found in each of them; not in every brace, though.
        lines = value.splitlines()
        if len(lines) > 1:
            stripped = (line.strip() for line in lines)
            found.update(line for line in stripped if len(line) >= MIN_LINE_LENGTH and not line.startswith("-----"))
        fresh = found - self._values
        if fresh:
            self._values |= fresh
            self._by_head = None

    def add_variable(self, text: str) -> None:
        """The value of a variable with a sensitive name."""
        self.add(secrets_of_variable(text))

    def add_connection(self, connection) -> None:
        self.add(secrets_of_connection(connection))

    def apply(self, text: str) -> str:
        if self._values:
            text = self._mask_values(text)
            # By decoding what is there, not by looking for three more spellings of each secret.
            if len(text) >= 12 and _BASE64_RUN.search(text):
                text = _BASE64_RUN.sub(self._mask_base64, text)
        return mask_credentials(text)

    def _mask_base64(self, found: re.Match) -> str:
        plain = _decoded(found.group())
        return found.group() if plain is None or self._mask_values(plain) == plain else MASK

    def _mask_values(self, text: str) -> str:
        heads = self._heads()
        at = 0
        parts: list[str] = []
        for start in self._candidates(text, heads):
            if start < at:
                continue
            secret = self._secret_at(text, start, heads)
            if secret is not None:
                parts += text[at:start], MASK
                at = start + len(secret)
        return "".join(parts) + text[at:] if parts else text

    def _heads(self) -> dict[str, list]:
        """For each head the lengths of those that begin with it, with all of that length."""
        if self._by_head is None:
            by_length: dict[str, dict[int, set]] = {}
            for value in self._values:
                by_length.setdefault(value[:_HEAD], {}).setdefault(len(value), set()).add(value)
            # The longest first: a password that contains another one must not leave its tail behind.
            self._by_head = {head: sorted(found.items(), reverse=True) for head, found in by_length.items()}
            self._head_lengths = sorted({len(head) for head in self._by_head}, reverse=True)
            first = {head[0] for head in self._by_head}
            self._first = re.compile(f"[{''.join(map(re.escape, first))}]") if len(first) <= _FEW else None
        return self._by_head

    def _candidates(self, text: str, heads: dict[str, list]) -> list[int]:
        places = range(len(text)) if self._first is None else map(re.Match.start, self._first.finditer(text))
        if len(self._head_lengths) == 1:
            length = self._head_lengths[0]
            return [start for start in places if text[start : start + length] in heads]
        return [start for start in places if any(text[start : start + n] in heads for n in self._head_lengths)]

    def _secret_at(self, text: str, start: int, heads: dict[str, list]) -> str | None:
        for head_length in self._head_lengths:
            for length, values in heads.get(text[start : start + head_length], ()):
                if (value := text[start : start + length]) in values:
                    return value
        return None

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
