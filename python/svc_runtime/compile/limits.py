"""Limits of one compile, and the bookkeeping of processes that a file may leave behind."""

from __future__ import annotations

import contextlib
import os
import signal
import sys

MIB = 1024 * 1024


class Limits:
    wall_seconds = 30.0
    # For a file that waits for a program which reads a whole project.
    slow_seconds = 300.0
    cpu_seconds = 30
    memory_bytes = 2048 * MIB
    file_bytes = 64 * MIB
    open_files = 256
    processes = 32
    output_bytes = 16 * MIB
    output_keep_bytes = 64 * 1024
    result_bytes = 64 * MIB
    max_tasks = 10_000

    @classmethod
    def from_request(cls, given: dict) -> Limits:
        limits = cls()
        for name, value in given.items():
            if not hasattr(cls, name) or isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
                continue
            setattr(limits, name, value)
        return limits

    def apply(self, group: int | None = None) -> None:
        """In the child, before any of the file's code runs. `group`: of those who may read what tasks may, and no more."""
        import resource

        def bound(kind, value: int, most: int = 0) -> None:
            try:
                _, hard = resource.getrlimit(kind)
                most = max(value, most)
                top = most if hard == resource.RLIM_INFINITY else min(most, hard)
                resource.setrlimit(kind, (min(value, top), top))
            except (ValueError, OSError):
                pass  # a platform without this limit still has the wall clock

        bound(resource.RLIMIT_AS, int(self.memory_bytes))
        # A program it waits for may take more, as long as the wall clock lets it.
        bound(resource.RLIMIT_CPU, int(self.cpu_seconds) + 1, int(self.slow_seconds))
        bound(resource.RLIMIT_FSIZE, int(self.file_bytes))
        bound(resource.RLIMIT_NOFILE, int(self.open_files))
        bound(resource.RLIMIT_CORE, 0)
        # A little more than the server tolerates, so that its clear message comes before the kernel's errors.
        processes = int(self.processes) + 8
        if os.getuid() == 0:
            bound(resource.RLIMIT_NPROC, processes)
            if group is not None:
                leave_everything(group)
            elif not leave_root():
                forbid_processes()
        else:
            bound(resource.RLIMIT_NPROC, _own_threads() + processes)


def leave_everything(group: int) -> None:
    """Become a user nobody else is, in the group of the user tasks run as, with no right of root's. Raises where it cannot."""
    pr_set_no_new_privs = 38
    user = _own_user()
    os.setgroups([])
    os.setresgid(group, group, group)
    os.setresuid(user, user, user)
    import ctypes

    ctypes.CDLL(None).prctl(pr_set_no_new_privs, 1, 0, 0, 0)


def _own_user() -> int:
    return 61_000 + os.getpid() % 4000


def leave_root() -> bool:
    """Become a user nobody else is, who may read every file and nothing more. False where that is not possible."""
    pr_set_keepcaps, pr_set_no_new_privs, cap_dac_read_search = 8, 38, 2
    user = _own_user()
    try:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(pr_set_keepcaps, 1, 0, 0, 0)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        bit = 1 << cap_dac_read_search
        # effective, permitted, inheritable; low words, then high words
        data = (ctypes.c_uint32 * 6)(bit, bit, 0, 0, 0, 0)
        if libc.capset(header, data) != 0:
            libc.capset(header, (ctypes.c_uint32 * 6)())
        libc.prctl(pr_set_no_new_privs, 1, 0, 0, 0)
    except (OSError, AttributeError, ImportError):
        return os.getuid() != 0
    return True


def forbid_processes() -> None:
    """The last resort of a root that cannot step down: the file may not start processes at all."""
    from ..exceptions import RecordingError

    def refuse(event: str, args) -> None:
        if event in (
            "os.fork",
            "os.forkpty",
            "os.system",
            "os.posix_spawn",
            "os.exec",
            "subprocess.Popen",
            "pty.spawn",
        ):
            raise RecordingError("the file starts a process while it is compiled", "Start processes inside tasks")

    sys.addaudithook(refuse)


def _own_threads() -> int:
    """Threads of this user now: RLIMIT_NPROC counts all of them, not only ours."""
    total = 0
    me = os.getuid()
    for pid in _pids():
        try:
            if os.stat(f"/proc/{pid}").st_uid == me:
                total += len(os.listdir(f"/proc/{pid}/task"))
        except OSError:
            continue
    return total or 4096


def _pids() -> list:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _stat_fields(pid: int) -> list | None:
    """state, ppid, pgrp, … (the fields after the command name, which may contain anything)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return None


def group_size(pgid: int) -> int:
    """Processes in the child's group, and processes that fled to us from it."""
    count = 0
    me = os.getpid()
    for pid in _pids():
        fields = _stat_fields(pid)
        if fields is None:
            continue
        if int(fields[2]) == pgid or (int(fields[1]) == me and pid != pgid):
            count += 1
    return count


def become_subreaper() -> None:
    """Orphans of a compiled file become our children (Linux), so that they can be found and killed."""
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes

        pr_set_child_subreaper = 36
        ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)
    except (OSError, AttributeError, ImportError):
        pass


def reap_strays(known: set) -> None:
    """Kills and collects every child of ours that is not a running job. New orphans may arrive; repeat until none."""
    me = os.getpid()
    for _ in range(1000):
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG) if not known else (0, 0)
            except ChildProcessError:
                pid = 0
            if pid == 0:
                break
        strays = []
        for pid in _children_of(me):
            if pid not in known:
                strays.append(pid)
        if not strays:
            return
        for pid in strays:
            _kill_stray(pid, known)


def _kill_stray(pid: int, known: set) -> None:
    try:
        group = os.getpgid(pid)
        if group not in known and group != os.getpgrp():
            os.killpg(group, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def _children_of(pid: int) -> list:
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
            return [int(part) for part in file.read().split()]
    except OSError:
        return []
