"""Modules that the server did not load ahead and attempts had to load for themselves, each anew.

A child reports them by a signal, one for each module: it must hold no descriptor of the server, and its exit status is for the
agent. The server then loads the module, once, and all later children find it there.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys

from .preload import add, missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

# Elsewhere than on Linux there may be none.
_SIGNALS = range(signal.SIGRTMIN, signal.SIGRTMAX) if hasattr(signal, "SIGRTMIN") else ()


class LateModules:
    # Without them everything has to be loaded ahead.
    are_possible = bool(_SIGNALS)

    def __init__(self) -> None:
        self._missing = dict(zip(missing(), _SIGNALS, strict=False))
        for number in self._missing.values():
            signal.signal(number, _ignore)

    def report(self) -> None:
        """In a child, at its end."""
        for name, number in self._missing.items():
            if name in sys.modules:
                with contextlib.suppress(OSError):  # a task may have become another user
                    os.kill(os.getppid(), number)

    def found(self) -> list:
        """In a child at its end, where it can send no signals: for its last message."""
        return [name for name in self._missing if name in sys.modules]

    def load_named(self, names: list) -> bool:
        """In the server, of what a child has found: whether something was loaded."""
        return self.load_reported(bytes(self._missing[name] for name in names if name in self._missing))

    def load_reported(self, signals: bytes) -> bool:
        """In the server, with the numbers of the signals that came: whether something was loaded."""
        found = [name for name, number in self._missing.items() if number in signals]
        for name in found:
            del self._missing[name]
            with contextlib.suppress(Exception):  # then children go on loading it for themselves
                add(name)
        return bool(found)


def _ignore(number: int, frame: FrameType | None) -> None: ...
