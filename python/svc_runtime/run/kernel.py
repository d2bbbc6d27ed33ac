"""The few things a fork server asks of the Linux kernel that the standard library does not offer."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

# Bound and typed once: finding it again would touch, and so copy, some forty pages in every child.
_prctl = ctypes.CDLL(None).prctl
_prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
_prctl.restype = ctypes.c_int


def die_with_parent(number: int = signal.SIGKILL, parent: int | None = None) -> None:
    """The kernel sends `number` when the parent dies. With `parent`, also if it died before we could ask."""
    _prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os._exit(0)


def become_subreaper() -> None:
    """Orphans among our descendants become our children instead of init's."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def own_threads() -> int:
    return len(os.listdir("/proc/self/task"))


def children_of(pid: int) -> set[int]:
    """Direct children, zombies included."""
    found: set[int] = set()
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found.update(int(word) for word in file.read().split())
    except OSError:
        pass  # it has ended meanwhile
    return found


def descendants_of(pid: int) -> list[int]:
    """Children before parents' siblings: every process below `pid`, nearest first."""
    found: list[int] = []
    pending = [pid]
    while pending:
        for child in sorted(children_of(pending.pop(0))):
            found.append(child)
            pending.append(child)
    return found
