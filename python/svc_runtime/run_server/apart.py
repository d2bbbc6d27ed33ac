"""Keeps a server, each of its attempts, and all they start, from looking into other processes or signalling them.

Attempts of a worker run as one user, and a user may read what its processes keep: their environment, with every secret that a
program was given, their memory, their open files. On Linux 5.13 and later a Landlock domain of its own, which needs no
privilege, closes that: /proc/<pid>/environ, mem, fd and ptrace of processes outside the domain are refused, also to root;
since 6.12 signals to them too. The price is `no_new_privs`: sudo and other set-user-id programs do not work in such a worker.

A server enters one before it loads the DAG file, which is author code as well; each attempt enters another inside of it.

Older kernels: only Python processes, not the programs they start, are closed to others (PR_SET_DUMPABLE, which every
server sets).
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
_ADD_RULE = 445
_RESTRICT_SELF = 446
_VERSION = 1
_SCOPES_SINCE = 6
_REFER_SINCE = 2
# A domain must have a rule about something. Rules about files also forbid every move from one folder to another that they do
# not allow, so that older kernels get a rule that allows just those; in 5.13 to 5.18 there is none.
_MAKE_BLOCK, _REFER = 1 << 11, 1 << 13
_RULE_PATH_BENEATH = 1
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1, 2
_PR_SET_NO_NEW_PRIVS = 38


def _find_syscall() -> Any:
    try:
        syscall = ctypes.CDLL(None).syscall
    except (AttributeError, OSError, TypeError):
        return None
    syscall.restype = ctypes.c_long
    return syscall


class Apart:
    """Made once, in the server, which calls `enter_server`; `enter` is called in each child."""

    def __init__(self, version: int | None = None) -> None:
        """`version`: to do as on an older kernel."""
        self._syscall = _find_syscall()
        known = self._call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
        self.version = known if version is None else min(known, version)
        self.ruleset = self._make() if self.version > 0 else -1

    def _call(self, number: int, *arguments: Any) -> int:
        return self._syscall(ctypes.c_long(number), *arguments) if self._syscall is not None else -1

    def _create(self, attributes: bytes) -> int:
        return self._call(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))

    def _make(self) -> int:
        if self.version >= _SCOPES_SINCE:
            return self._create(struct.pack("=QQQ", 0, 0, _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS))
        if self.version < _REFER_SINCE:
            return self._create(struct.pack("=Q", _MAKE_BLOCK))
        ruleset = self._create(struct.pack("=Q", _REFER))
        if ruleset >= 0:
            root = os.open("/", os.O_PATH | os.O_CLOEXEC)
            rule = struct.pack("=Qi", _REFER, root)
            self._call(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_RULE_PATH_BENEATH), rule, ctypes.c_uint32(0))
            os.close(root)
        return ruleset

    @property
    def keeps_signals(self) -> bool:
        return self.ruleset >= 0 and self.version >= _SCOPES_SINCE

    def enter_server(self) -> None:
        """Before the DAG file is loaded. Not where a server then could not move, and so not remove, what attempts leave."""
        if self.version >= _REFER_SINCE:
            self._restrict()

    def _restrict(self) -> None:
        prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if self.ruleset >= 0:
            self._call(_RESTRICT_SELF, ctypes.c_int(self.ruleset), ctypes.c_uint32(0))

    def enter(self) -> None:
        """In a child, which has no further use for the rules."""
        self._restrict()
        if self.ruleset >= 0:
            os.close(self.ruleset)
