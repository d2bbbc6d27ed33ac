"""Keeps the process of an attempt, and all it starts, from looking into other processes or signalling them.

Attempts of a worker run as one user, and a user may read what its processes keep: their environment, with every secret that a
program was given, their memory, their open files. On Linux 5.13 and later a Landlock domain of its own, which needs no
privilege, closes that: /proc/<pid>/environ, mem, fd and ptrace of processes outside the domain are refused, also to root;
since 6.12 signals to them too. The price is `no_new_privs`: sudo and other set-user-id programs do not work in such a worker.

Older kernels: only the process itself, not the programs it starts, is closed to others (PR_SET_DUMPABLE).
"""

from __future__ import annotations

import ctypes
import os
import struct

from ..run.kernel import prctl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CREATE_RULESET = 444
_RESTRICT_SELF = 446
_VERSION = 1
_SCOPES_SINCE = 6
# Of all there is to forbid, what nobody without privileges could do anyway: making block devices.
_MAKE_BLOCK = 1 << 11
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1, 2
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38


def _find_syscall() -> Any:
    try:
        syscall = ctypes.CDLL(None).syscall
    except (AttributeError, OSError, TypeError):
        return None
    syscall.restype = ctypes.c_long
    return syscall


class Apart:
    """Made once, in the server; `enter` is called in each child."""

    def __init__(self) -> None:
        self._syscall = _find_syscall()
        self.version = self._ask(None, 0, _VERSION) if self._syscall else 0
        self.ruleset = self._make() if self.version > 0 else -1

    def _ask(self, attributes: bytes | None, size: int, flags: int) -> int:
        assert self._syscall is not None
        return self._syscall(ctypes.c_long(_CREATE_RULESET), attributes, ctypes.c_size_t(size), ctypes.c_uint32(flags))

    def _make(self) -> int:
        if self.version < _SCOPES_SINCE:
            return self._ask(struct.pack("=Q", _MAKE_BLOCK), 8, 0)
        return self._ask(struct.pack("=QQQ", _MAKE_BLOCK, 0, _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS), 24, 0)

    @property
    def keeps_signals(self) -> bool:
        return self.ruleset >= 0 and self.version >= _SCOPES_SINCE

    def enter(self) -> None:
        prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if self.ruleset >= 0 and self._syscall is not None:
            done = self._syscall(ctypes.c_long(_RESTRICT_SELF), ctypes.c_int(self.ruleset), ctypes.c_uint32(0))
            os.close(self.ruleset)
            if done == 0:
                return
        prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
