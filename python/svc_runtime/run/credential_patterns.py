"""Masks what looks like a credential although nobody registered it: passwords in URLs, header text, tokens of known shapes,
private keys, and what stands under a sensitive name.

The same rules as packages/spec/masking/credential-patterns.ts, which explains them; vectors.json there is read by the tests of
both. Texts are the author's and those of foreign errors, so every rule looks at a stretch of text once.
"""

from __future__ import annotations

import re

from .masking_rules import OPEN_SETTINGS, TOKEN_SHAPES
from .sensitive_names import SENSITIVE_PARTS

MASK = "***"
_TOKEN_USER_LENGTH = 16
_MAX_NAME_LENGTH = 64


class _Pattern:
    """Compiled when it is first used: most lines need none of them, and compiling all takes as long as most imports."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern = pattern
        self._flags = flags

    def compile(self) -> None:
        compiled = re.compile(self._pattern, self._flags)
        self.search, self.match, self.sub = compiled.search, compiled.match, compiled.sub

    def __getattr__(self, name: str):
        if name not in ("search", "match", "sub"):
            raise AttributeError(name)
        self.compile()
        return self.__dict__[name]


_ASCII = re.ASCII
_ANY_CASE = re.ASCII | re.IGNORECASE
_SENSITIVE = _Pattern(SENSITIVE_PARTS, _ANY_CASE)
_FIELD_SENSITIVE = _Pattern(f"{SENSITIVE_PARTS}|cookie", _ANY_CASE)
_WORD_END = _Pattern(r"[\s\"'<>]", _ASCII)
_USER_END = _Pattern(r"[:/?#]", _ASCII)
_PORT = _Pattern(r"\d{1,5}[/?#]", _ASCII)
_HEADERS = (
    _Pattern(
        r"\b(authorization[\"']?\s*[:=]\s*[\"']?(?:(?:basic|bearer|digest|negotiate|token) +)?)[^\s\"',;]+", _ANY_CASE
    ),
    _Pattern(r"\b(bearer\s+)[^\s\"',;<>]{8,}", _ANY_CASE),
    _Pattern(r"\b((?:set-)?cookie:\s*)[^\r\n]+", _ANY_CASE),
)
_TOKEN_RUN = _Pattern(r"[\w.-]{24,}", _ASCII)
_KEY_HEAD = _Pattern(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----", _ASCII)
_SHAPES = [(hint, _Pattern(pattern, _ASCII)) for hint, pattern in TOKEN_SHAPES]
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
# In every sensitive name one of these (a test says so): most lines have none, and are done.
_NAME_HINTS = ("secret", "pass", "token", "auth", "credential", "key", "conn", "account", "cookie")
_AFTER_EQUALS = _Pattern(r" {0,2}(?:(\\{0,3})([\"'])|(?=[^\s=>~]))", _ASCII)
_PLAIN_END = _Pattern(r"[\s&;,\"'<>)\]}]", _ASCII)
_FIELD = _Pattern(r"[\"']([\w.$-]{1,64})\\{0,3}[\"'] {0,8}: {0,8}(?:(\\{0,3})([\"'])|(?=-?\d))", _ASCII)
_COUNTED = _Pattern(r"tokens\Z", _ANY_CASE)
_COUNT = _Pattern(r"\d{1,12}\Z", _ASCII)
_OUR_PREFIX = _Pattern(r"_*(?:svc_)?", 0)


def compile_patterns() -> None:
    """For processes that are forked from this one."""
    patterns = [value for value in globals().values() if isinstance(value, _Pattern)]
    for pattern in (*patterns, *_HEADERS, *(shape for _, shape in _SHAPES)):
        pattern.compile()


def mask_credentials(text: str) -> str:
    if "://" in text:
        text = _mask_url_passwords(text)
    lower = text.lower()
    may_name = any(hint in lower for hint in _NAME_HINTS)
    if may_name and ":" in text:
        text = _mask_fields(text)
    if "bearer" in lower or "authorization" in lower or "cookie" in lower:
        for header in _HEADERS:
            text = header.sub(rf"\g<1>{MASK}", text)
    if "eyJ" in text:
        text = _TOKEN_RUN.sub(_mask_web_token, text)
    if "-----BEGIN " in text:
        text = _mask_private_keys(text)
    for hint, shape in _SHAPES:
        if hint in text:
            text = shape.sub(MASK, text)
    if may_name and "=" in text:
        text = _mask_assignments(text)
    return text


def _is_open_setting(name: str) -> bool:
    plain = name.lower().replace(".", "_").replace("-", "_")
    return _OUR_PREFIX.sub("", plain, count=1) in OPEN_SETTINGS


def _is_count(name: str, value: str) -> bool:
    return bool(_COUNTED.search(name) and _COUNT.match(value))


def _mask_url_passwords(text: str) -> str:
    out: list[str] = []
    done = 0
    word_end = last_at = -1
    mark = text.find("://")
    while mark != -1:
        start = mark + 3
        mark = text.find("://", start)
        if start < done:
            continue
        if start > word_end:
            found = _WORD_END.search(text, start)
            word_end = found.start() if found else len(text)
            last_at = text.rfind("@", start, word_end)
        if last_at < start:
            continue
        user = _USER_END.search(text, start, last_at)
        if user is None:
            if last_at - start < _TOKEN_USER_LENGTH:
                continue
            out += text[done:start], MASK
        else:
            user_end = user.start()
            if text[user_end] != ":" or _PORT.match(text, user_end + 1):
                continue
            out += text[done:user_end], ":", MASK
        done = last_at
    return "".join(out) + text[done:] if out else text


def _mask_web_token(found: re.Match) -> str:
    run = found.group()
    at = run.find("eyJ")
    dot = -1 if at == -1 else run.find(".", at)
    return run[:at] + MASK if dot - at >= 12 and len(run) - dot >= 8 else run


def _mask_private_keys(text: str) -> str:
    out: list[str] = []
    done = 0
    head = _KEY_HEAD.search(text)
    while head is not None:
        start = head.end()
        foot = text.find("-----END", start)
        end = len(text) if foot == -1 else foot
        if text[start:end].strip():
            out += text[done:start], MASK
            done = end
        head = _KEY_HEAD.search(text, end)
    return "".join(out) + text[done:] if out else text


def _plain_end(text: str, start: int) -> int:
    found = _PLAIN_END.search(text, start)
    return found.start() if found else len(text)


def _quoted_end(text: str, start: int, quote: str, slashes: int) -> int:
    at = text.find(quote, start)
    while at != -1:
        before = at
        while before > start and text[before - 1] == "\\":
            before -= 1
        count = at - before
        if count % 2 == 0 if slashes == 0 else count <= slashes:
            return at - min(count, slashes)
        at = text.find(quote, at + 1)
    return len(text)


def _name_before(text: str, place: int, first: int) -> str:
    end = place
    while end > max(first, place - 2) and text[end - 1] == " ":
        end -= 1
    start = end
    while start > first and text[start - 1] in _NAME_CHARACTERS:
        start -= 1
    return text[start:end]


def _mask_assignments(text: str) -> str:
    out: list[str] = []
    done = 0
    equals = text.find("=")
    while equals != -1:
        place, equals = equals, text.find("=", equals + 1)
        if place < done:
            continue
        name = _name_before(text, place, max(done, place - _MAX_NAME_LENGTH))
        if not _SENSITIVE.search(name) or _is_open_setting(name):
            continue
        begin = _AFTER_EQUALS.match(text, place + 1)
        if begin is None:
            continue
        start = begin.end()
        slashes, quote = begin.groups()
        end = _plain_end(text, start) if quote is None else _quoted_end(text, start, quote, len(slashes))
        if end == start or _is_count(name, text[start:end]):
            continue
        out += text[done:start], MASK
        done = end
    return "".join(out) + text[done:] if out else text


def _mask_fields(text: str) -> str:
    out: list[str] = []
    done = 0
    field = _FIELD.search(text)
    while field is not None:
        name, slashes, quote = field.groups()
        start = after = field.end()
        if _FIELD_SENSITIVE.search(name) and not _is_open_setting(name):
            end = _plain_end(text, start) if quote is None else _quoted_end(text, start, quote, len(slashes))
            if end != start and not _is_count(name, text[start:end]):
                out += text[done:start], MASK if quote is not None else f'"{MASK}"'
                done = after = end
        elif quote is not None:
            after = start - 1  # the quote may be the one before the next name
        field = _FIELD.search(text, after)
    return "".join(out) + text[done:] if out else text
