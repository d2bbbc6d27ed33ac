"""Addresses of objects, `scheme://conn_id@bucket/key`, taken apart and put together as `pathlib` does; touches no store."""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath

ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.S)
LOCAL = ("", "file", "local")
_WEB = ("http", "https")
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self


class PathParts:
    sep = "/"
    root_marker = "/"

    _protocol: str
    _rest: str
    _options: dict
    conn_id: str | None

    def __init__(self, *parts, protocol: str | None = None, conn_id: str | None = None, **storage_options) -> None:
        first, *more = parts or ("",)
        if isinstance(first, PathParts):
            protocol = protocol or first._protocol
            conn_id = conn_id or first.conn_id
            storage_options = {**first._options, **storage_options}
            rest = first._rest
        else:
            text = os.fspath(first)
            if not isinstance(text, str):
                raise TypeError(f"a path is a text, not {type(first).__name__}")
            address = ADDRESS.fullmatch(text)
            scheme, rest = (address.group(1).lower(), address.group(2)) if address else ("", text)
            if protocol and scheme and protocol != scheme:
                raise ValueError(f"{text!r} has the scheme {scheme}, but protocol={protocol!r}")
            protocol = protocol or scheme
            if address and scheme not in LOCAL:
                bucket, slash, key = rest.partition("/")
                user, at, host = bucket.rpartition("@")
                # With a colon they are a user and a password, as addresses have them.
                if at and ":" not in user:
                    conn_id, rest = user or conn_id, host + slash + key
        self._protocol = protocol
        self._options = dict(storage_options)
        self.conn_id = conn_id
        self._rest = self._normal(_joined(rest, more))

    def _normal(self, rest: str) -> str:
        """Without a slash at the end, which only a bucket has."""
        if self._is_local:
            return rest.rstrip("/") or rest[:1]
        rest = rest.strip("/")
        return rest if "/" in rest or not rest else f"{rest}/"

    def _like(self, rest: str) -> Self:
        made = type(self).__new__(type(self))
        made._protocol, made._options, made.conn_id = self._protocol, self._options, self.conn_id
        made._rest = made._normal(rest)
        return made

    # Where it is.

    @property
    def protocol(self) -> str:
        return self._protocol

    @property
    def storage_options(self) -> dict:
        return dict(self._options)

    @property
    def path(self) -> str:
        """As its filesystem names it: without the scheme, and without the connection."""
        if self._is_local:
            return self._rest or "."
        if self._protocol in _WEB:
            return self._url
        return f"/{self._rest.rstrip('/')}" if self._protocol == "memory" else self._rest

    @property
    def bucket(self) -> str:
        return "" if self._is_local else self._rest.partition("/")[0]

    container = bucket

    @property
    def key(self) -> str:
        return self._rest.lstrip("/") if self._is_local else self._rest.partition("/")[2]

    @property
    def namespace(self) -> str:
        return f"{self._protocol}://{self.bucket}" if self.bucket else self._protocol

    @property
    def _is_local(self) -> bool:
        return self._protocol in LOCAL

    @property
    def _url(self) -> str:
        return f"{self._protocol}://{self._rest}"

    # Its parts.

    @property
    def _pure(self) -> PurePosixPath:
        return PurePosixPath(self._rest)

    @property
    def name(self) -> str:
        return self._pure.name if self._is_local or self.key else ""

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix

    @property
    def suffixes(self) -> list[str]:
        return PurePosixPath(self.name).suffixes

    @property
    def parts(self) -> tuple[str, ...]:
        if self._is_local:
            return self._pure.parts
        return (f"{self.bucket}/", *PurePosixPath(self.key).parts)

    @property
    def parent(self) -> Self:
        if self._is_local:
            return self._like(str(self._pure.parent))
        return self._like(self._rest.rpartition("/")[0])

    @property
    def parents(self) -> tuple[Self, ...]:
        found: list[Self] = []
        path = self
        while path.parent._rest != path._rest:
            path = path.parent
            found.append(path)
        return tuple(found)

    def joinpath(self, *parts) -> Self:
        return self._like(_joined(self._rest, parts))

    def __truediv__(self, other) -> Self:
        if not isinstance(other, (str, os.PathLike)):
            return NotImplemented
        return self.joinpath(other)

    def with_segments(self, *parts) -> Self:
        return type(self)(*parts, protocol=self._protocol, conn_id=self.conn_id, **self._options)

    def with_name(self, name: str) -> Self:
        if not self.name:
            raise ValueError(f"{self} has no name that could be another")
        return self.parent / name

    def with_stem(self, stem: str) -> Self:
        return self.with_name(stem + self.suffix)

    def with_suffix(self, suffix: str) -> Self:
        return self.with_name(str(PurePosixPath(self.name).with_suffix(suffix)))

    def is_relative_to(self, other, *more) -> bool:
        other = type(self)(other, *more)
        # The connection says how it is reached, not where it is.
        return other._protocol == self._protocol and self._pure.is_relative_to(other._pure)

    def relative_to(self, other, *more) -> PurePosixPath:
        """What joins `other` to this path."""
        if not self.is_relative_to(other, *more):
            raise ValueError(f"{self} is not below {other}")
        return self._pure.relative_to(type(self)(other, *more)._pure)

    def match(self, pattern: str) -> bool:
        return self._pure.match(pattern)

    def as_posix(self) -> str:
        return str(self)

    def as_uri(self) -> str:
        return f"file://{os.path.abspath(self._rest)}" if self._is_local else self._url

    def is_absolute(self) -> bool:
        return not self._is_local or self._pure.is_absolute()

    def absolute(self) -> Self:
        return self._like(os.path.abspath(self._rest)) if self._is_local else self

    def resolve(self, strict: bool = False) -> Self:
        """Without `.` and `..`; links of local files are followed."""
        if self._is_local:
            return self._like(os.path.realpath(self._rest))
        kept: list[str] = []
        for part in self.key.split("/"):
            if part == "..":
                kept = kept[:-1]
            elif part != ".":
                kept.append(part)
        return self._like(f"{self.bucket}/{'/'.join(kept)}")

    def expanduser(self) -> Self:
        return self._like(os.path.expanduser(self._rest)) if self._is_local else self

    def __str__(self) -> str:
        if not self._protocol:
            return self._rest or "."
        return f"{self._protocol}://{self.conn_id}@{self._rest}" if self.conn_id else self._url

    def __fspath__(self) -> str:
        if not self._is_local:
            raise TypeError(f"{self} is no local file: use its own methods, open() for one")
        return self._rest or "."

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def _identity(self) -> tuple:
        return self._protocol, self.conn_id or "", self._rest, repr(sorted(self._options.items()))

    def __eq__(self, other) -> bool:
        return isinstance(other, PathParts) and other._identity() == self._identity()

    def __lt__(self, other) -> bool:
        if not isinstance(other, PathParts):
            return NotImplemented
        return self._identity() < other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())


def _joined(rest: str, parts) -> str:
    for part in parts:
        text = os.fspath(part) if isinstance(part, os.PathLike) else part
        if not isinstance(text, str):
            raise TypeError(f"a part of a path is a text, not {type(part).__name__}")
        if text:
            rest = f"{rest.rstrip('/')}/{text.lstrip('/')}" if rest else text
    return rest
