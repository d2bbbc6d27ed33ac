"""Answers that are given again: to the same request, while everything that the file depends on is the same.

An entry holds what is in the answer, what the file read (reads.py), and the state of the packages and of svc itself at that time. It
is looked up by the request, so there is one for each file, and compared with what is there now. Whatever differs, or cannot be read,
makes a miss. The server writes entries; files that are compiled have no right to.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import posix
import sys
import tempfile
import time

from ..package_names import packages_in
from . import own_folders
from .reads import content_of, kind_of, names_in, value_in

FORMAT = 1
_UNUSED_DAYS = 30
_DAY = 86_400
_SWEPT = "swept"
_REQUEST_KEYS = ("id", "kept")


class Cache:
    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder
        self._packages: dict[str, tuple[int, str]] = {}
        self._contents: dict[str, tuple[tuple, str | None]] = {}
        self._names: dict[str, tuple[int, list]] = {}
        # At the start, because this process will go on with the modules of now.
        self._own = _hash_of_own() if folder is not None else ""
        self._site = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]

    @property
    def is_on(self) -> bool:
        return self._folder is not None

    def get(self, request: dict) -> dict | None:
        """`head` and `text` of the answer."""
        if self._folder is None:
            return None
        try:
            path = self._file(request)
            with open(path, encoding="utf-8") as file:
                head_line, reads_line, text = file.read().split("\n", 2)
            entry = json.loads(head_line)
            if entry["request"] != _plain(request) or entry["state"] != self._state():
                return None
            if not self._is_same(json.loads(reads_line), {**os.environ, **(request.get("env") or {})}):
                return None
        except (OSError, ValueError, KeyError, TypeError):
            return None  # there is none, or none that can be used
        with contextlib.suppress(OSError):
            if time.time() - posix.stat(path).st_mtime > _DAY:
                os.utime(path)
        return {"head": entry["head"], "text": text}

    def put(self, request: dict, head: dict, reads: dict, text: str) -> None:
        if self._folder is None or "reason" in reads or "\n" in text:
            return
        entry = {"request": _plain(request), "state": self._state(), "head": head}
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            descriptor, unfinished = tempfile.mkstemp(dir=self._folder)
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(f"{json.dumps(entry)}\n{json.dumps(reads)}\n{text}")
            os.replace(unfinished, self._file(request))
        except (OSError, ValueError):
            return  # a disk that is full or not ours costs time, not the compile
        self._sweep()

    def _file(self, request: dict) -> str:
        name = hashlib.sha256(f"{sys.executable} {json.dumps(_plain(request), sort_keys=True)}".encode()).hexdigest()
        return os.path.join(self._folder or "", f"{name[:40]}.json")

    def _is_same(self, reads: dict, environment: dict) -> bool:
        """The cheapest and the most likely to differ first."""
        return (
            all(self._content(path) == found for path, found in reads["files"].items())
            and all(value_in(environment, name) == found for name, found in reads["environment"].items())
            and all(kind_of(path) == found for path, found in reads["looks"].items())
            and all(names_in(path) == found for path, found in reads["folders"].items())
            and all(self._packages_of(path) == found for path, found in reads["packages"].items())
        )

    def _content(self, path: str) -> str | None:
        """Read once, until its times or its size change."""
        info = posix.stat(path) if os.path.lexists(path) else None
        state = info and (info.st_ino, info.st_mtime_ns, info.st_ctime_ns, info.st_size)
        known = self._contents.get(path)
        if known is not None and known[0] == state:
            return known[1]
        found = content_of(path)[0]
        if info is not None and state is not None and time.time_ns() - info.st_ctime_ns > 1_000_000_000:
            self._contents[path] = (state, found)
        return found

    def _packages_of(self, folder: str) -> list:
        changed = posix.stat(folder).st_mtime_ns
        known = self._names.get(folder)
        if known is None or known[0] != changed:
            known = (changed, packages_in(os.listdir(folder)))
            if time.time_ns() - changed > 1_000_000_000:
                self._names[folder] = known
        return known[1]

    def _state(self) -> str:
        """Of the interpreter, its packages, svc itself and the folder that it works in."""
        packages = [self._installed_in(folder) for folder in self._site]
        return _hash([FORMAT, sys.version, os.getcwd(), self._own, *packages])

    def _installed_in(self, folder: str) -> str:
        try:
            changed = posix.stat(folder).st_mtime_ns
        except OSError:
            return ""
        known = self._packages.get(folder)
        if known is None or known[0] != changed:
            known = (changed, _hash(_packages_with_times(folder)))
            self._packages[folder] = known
        return known[1]

    def _sweep(self) -> None:
        """Removes answers that were not used for a month. It looks once a day."""
        folder = self._folder or ""
        mark = os.path.join(folder, _SWEPT)
        now = time.time()
        try:
            if now - posix.stat(mark).st_mtime < _DAY:
                return
        except OSError:
            pass
        with contextlib.suppress(OSError):
            with open(mark, "w"):
                pass
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                if name != _SWEPT and now - posix.stat(path).st_mtime > _UNUSED_DAYS * _DAY:
                    os.unlink(path)


def _plain(request: dict) -> dict:
    return {name: value for name, value in request.items() if name not in _REQUEST_KEYS}


def _hash(value: object) -> str:
    return hashlib.sha256(repr(value).encode("utf-8", "surrogateescape")).hexdigest()


def _packages_with_times(folder: str) -> list:
    """Installing, removing and replacing a package changes one of them; `.pth` files name more places."""
    found = []
    for name in sorted(os.listdir(folder)):
        if name.endswith((".pth", ".dist-info", ".egg-info", ".egg", ".egg-link")):
            info = posix.stat(os.path.join(folder, name))
            found.append((name, info.st_mtime_ns, info.st_size))
    return found


def _hash_of_own() -> str:
    digest = hashlib.sha256()
    for root in own_folders():
        for place, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                if name.endswith(".py"):
                    path = os.path.join(place, name)
                    with open(path, "rb") as file:
                        digest.update(f"{path}\n".encode() + file.read())
    return digest.hexdigest()
