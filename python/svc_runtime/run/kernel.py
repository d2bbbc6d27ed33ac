"""The few things a fork server asks of the kernel that the standard library does not offer.

They are Linux's. Elsewhere they do nothing: attempts then notice a dead agent by their closed connection, and programs that a
task leaves behind stay.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import termios
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_SIGKILL = int(signal.SIGKILL)
_FIONREAD = termios.FIONREAD
# Where the kernel writes the number to. A process asks in one thread only.
_unread = bytearray(4)
_NONE_UNREAD = bytes(4)
_MINDS_FORKS = "jemalloc_bg_thd"
_THREAD_PATIENCE = 0.1
_THREAD_PAUSE = 0.001
# One read gives up to a page of the list; some five hundred children.
_CHILDREN_SIZE = 4096


def _find_prctl():
    # Bound and typed once: finding it again would touch, and so copy, some forty pages in every child.
    try:
        found = ctypes.CDLL(None).prctl
    except (AttributeError, OSError, TypeError):
        return lambda *arguments: 0
    found.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    found.restype = ctypes.c_int
    return found


prctl = _find_prctl()


def die_with_parent(number: int = _SIGKILL, parent: int | None = None) -> None:
    """The kernel sends `number` when the parent dies. With `parent`, also if it died before we could ask."""
    prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os._exit(0)


def become_subreaper() -> None:
    """Orphans among our descendants become our children instead of init's."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def close_to_others() -> None:
    """Refuses /proc/<pid>/mem, environ, fd and ptrace of this process and its forks to other processes of the same user.

    A program that it starts by exec is open again.
    """
    prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def has_unread(pipe: int) -> bool:
    """Whether there are bytes in a pipe; either end may ask."""
    fcntl.ioctl(pipe, _FIONREAD, _unread)
    return _unread != _NONE_UNREAD


def has_threads_across_forks() -> bool:
    """Whether this process has other threads when it forks: a fork copies the calling one alone, and locks that others hold.

    Libraries that mind forks are no reason to fear one. OpenBLAS (numpy, scipy, pandas) starts its threads when it is loaded,
    ends them before each fork, and starts them again in whichever process computes; so one fork tells.
    """
    if _count_threads() == 1:
        return False
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    # A thread that was waited for is still listed for a moment.
    deadline = time.monotonic() + _THREAD_PATIENCE
    while _count_threads() > 1:
        if time.monotonic() > deadline:
            return True
        time.sleep(_THREAD_PAUSE)
    return False


def _count_threads() -> int:
    """Without those of jemalloc (pyarrow has it), which takes its locks before a fork and does without the thread behind it."""
    try:
        threads = os.listdir("/proc/self/task")
    except OSError:
        import threading

        return threading.active_count()
    return 1 if len(threads) == 1 else sum(_name_of_thread(thread) != _MINDS_FORKS for thread in threads)


def _name_of_thread(thread: str) -> str:
    try:
        with open(f"/proc/self/task/{thread}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return _MINDS_FORKS  # it has ended meanwhile


def memory_file() -> int:
    """A descriptor of a file without a name."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("svc")
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


can_peek = hasattr(os, "waitid")


def peek_ended() -> int | None:
    """A child that has ended and not been reaped yet, its pid still its own; None when there is none."""
    if not can_peek:
        return None
    try:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return None if ended is None else ended.si_pid


def children_of(pid: int) -> set[int]:
    """Direct children, zombies included."""
    found: set[int] = set()
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found  # it has ended meanwhile
    for thread in threads:
        # One thread that has ended meanwhile hides the children of no other.
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
            found.update(int(word) for word in file.read().split())
    return found


class OwnChildren:
    """`children_of` this process, for one that asks often: the list stays open. Only for a process with one thread."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self.descriptor: int | None = None
        with contextlib.suppress(OSError):
            self.descriptor = os.open(f"/proc/{self._pid}/task/{self._pid}/children", os.O_RDONLY)

    def now(self) -> set[int]:
        if self.descriptor is None:
            return children_of(self._pid)
        text = os.pread(self.descriptor, _CHILDREN_SIZE, 0)
        is_cut = len(text) > _CHILDREN_SIZE - 16
        return children_of(self._pid) if is_cut else {int(word) for word in text.split()}


def descendants_of(pid: int) -> list[int]:
    """Every process below `pid`, nearest first."""
    found: list[int] = []
    pending = [pid]
    while pending:
        for child in sorted(children_of(pending.pop(0))):
            found.append(child)
            pending.append(child)
    return found
