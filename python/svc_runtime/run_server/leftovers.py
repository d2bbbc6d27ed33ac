"""What an attempt may leave behind in a server that forks others after it, looked for when it has ended.

A reason, in words, makes the agent replace this server (a local worker), or leave and be replaced itself (a warm or remote
one that keeps its attempts apart, which is strict about each of these):

    processes    that outlived the attempt. They are ended in any case. Where it is not strict only those count that had left
                 the attempt's session, which ordinary helpers of a task do not do
    memory       of this process, that grew by more than the mark since the version was loaded: children cannot make it grow,
                 but what is loaded late, or leaks, is paid for by every fork
    files        that the version is loaded from, as far as this user could change them at all. Where it is not strict, those of
                 the project are left out: people edit them, and looked at once a second
    shared       memory and System V objects, where the machine is the worker's own (a pod): a name in /dev/shm is removed,
                 an object is a reason
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_MIB = 1 << 20
_LOOK_SECONDS = 1.0
_SHARED = "/dev/shm"
_IMPORTED = (*importlib.machinery.all_suffixes(), ".pth")
_NAMED = 3


class Leftovers:
    def __init__(self, request: dict) -> None:
        self.is_strict = bool(request.get("places")) and not request.get("is_local")
        self._owns_machine = bool(request.get("owns_machine"))
        self._max_growth = int(request.get("max_growth") or 0)
        # Not the project's, where people may edit it.
        self._unwatched = "" if self.is_strict else os.path.join(request.get("dags_folder") or "/", "")
        self._memory = 0
        self._files: dict[str, tuple] = {}
        self._folders: dict[str, tuple] = {}
        self._looked_at = 0.0
        self._shared: set = set()
        self.settle()

    def settle(self) -> None:
        """The state that attempts are to find from here on."""
        self._memory = resident()
        changeable: dict[str, bool] = {}
        for path in _module_files():
            if self._unwatched and path.startswith(self._unwatched) and "site-packages" not in path:
                continue
            folder = os.path.dirname(path)
            if folder not in changeable:
                changeable[folder] = os.access(folder, os.W_OK)
            if changeable[folder] or os.access(path, os.W_OK):
                with contextlib.suppress(OSError):
                    self._files[path] = _mark(path)
        if self.is_strict:
            for folder in {os.path.abspath(place) for place in sys.path if place}:
                with contextlib.suppress(OSError):
                    if os.access(folder, os.W_OK):
                        self._folders[folder] = (os.stat(folder).st_mtime_ns, _names(folder))
        if self._owns_machine:
            self._shared = set(_shared_objects())

    def of_server(self, *, is_idle: bool) -> str | None:
        """What is not a process. `is_idle`: no other attempt is running."""
        return (
            self._of_memory()
            or self._of_files()
            or (self._of_shared_objects() if is_idle and self._owns_machine else None)
        )

    def of_processes(self, strays: Iterable[int], attempt: int) -> str | None:
        """`strays`: still running when the attempt's own process is gone, and not ended by anybody yet."""
        found = [name for pid in strays if (name := self._counts(pid, attempt))]
        if not found:
            return None
        names = ", ".join(sorted(found)[:_NAMED])
        return f"a task left {len(found)} running process{'es' * (len(found) > 1)} ({names}), which had to be ended"

    def _counts(self, pid: int, attempt: int) -> str | None:
        """Its name, if it does."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                text = file.read()
            name = text[text.index("(") + 1 : text.rindex(")")]
            state, _, _, session, *_ = text[text.rindex(")") + 2 :].split()
            if state not in "ZX" and (self.is_strict or int(session) != attempt):
                return name
        return None

    def _of_memory(self) -> str | None:
        grown = resident() - self._memory
        if not self._max_growth or grown <= self._max_growth:
            return None
        mark = self._max_growth // _MIB
        return f"the memory of the warm Python process grew by {grown // _MIB} MiB, more than the {mark} MiB it may"

    def _of_files(self) -> str | None:
        if not self.is_strict:
            now = time.monotonic()
            if now - self._looked_at < _LOOK_SECONDS:
                return None
            self._looked_at = now
        for path, mark in self._files.items():
            try:
                is_same = _mark(path) == mark
            except OSError:
                is_same = False
            if not is_same:
                return f"{path}, which this version is loaded from, was changed or removed while tasks ran"
        for folder, (changed_at, names) in self._folders.items():
            try:
                now_at = os.stat(folder).st_mtime_ns
                is_same = now_at == changed_at or _names(folder) == names
            except OSError:
                is_same = False
            if not is_same:
                return f"something was put into, or taken from, {folder}, where Python looks for modules"
            self._folders[folder] = (now_at, names)
        return None

    def _of_shared_objects(self) -> str | None:
        for kind, name in sorted(set(_shared_objects()) - self._shared):
            if kind != _SHARED:
                return f"a task left a System V object ({kind} {name})"
            try:
                os.unlink(os.path.join(_SHARED, name))
            except OSError as error:
                return f"a task left {name} in {_SHARED}, which cannot be removed: {error.strerror}"
        return None


def resident() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0


def _module_files() -> set[str]:
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return {file for file in files if isinstance(file, str) and os.path.isabs(file)}


def _mark(path: str) -> tuple:
    found = os.stat(path)
    return (found.st_mtime_ns, found.st_ino, found.st_size)


def _names(folder: str) -> frozenset:
    """Of what an import could find: a task may well leave its data beside the project's modules."""
    with os.scandir(folder) as entries:
        return frozenset(entry.name for entry in entries if _is_importable(entry))


def _is_importable(entry: os.DirEntry) -> bool:
    if entry.name.endswith(_IMPORTED):
        return True
    return entry.name.isidentifier() and entry.name != "__pycache__" and entry.is_dir()


def _shared_objects() -> Iterable[tuple]:
    """Of this user."""
    own = os.getuid()
    with contextlib.suppress(OSError):
        for entry in os.scandir(_SHARED):
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_uid == own:
                    yield (_SHARED, entry.name)
    for kind in ("shm", "sem", "msg"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(f"/proc/sysvipc/{kind}", encoding="ascii") as file:
                head, *rows = (line.split() for line in file)
            column = head.index("uid")
            yield from ((kind, row[1]) for row in rows if int(row[column]) == own)
