"""What the server did not load ahead and attempts had to load for themselves, each anew: learned from them, and loaded once.

    a child at its end ─ names, beside its result ─▶ agent ─ load_late ─▶ server: loaded, for all that are forked from then on

A child holds no descriptor of the server, and may send it no signals where attempts are kept apart: so the agent passes it on.

Names are
- groups of preload.py, which any attempt may have needed;
- modules of installed packages that an operator of a package has loaded while it ran: the hook for the type of a connection, a
  database driver. Not what a function of an author imports: it may set the environment first, which many libraries read when
  they are loaded. Its place is the top of the file, and the author's to choose.

What two attempts have loaded is worth loading here; it is tried in a process of its own first. A module that does not load, that
hangs, that starts threads a fork would lose, or that is not of an installed package (an attempt may say anything) is left to the
attempts.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import os
import signal
import sys

from ..run.kernel import die_with_parent, has_threads_across_forks
from .preload import SOMETIMES, add, missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

_WORTHWHILE = 2
# Of one attempt, and so of one trial, which says by its exit status how far it came.
_MAX_NAMES = 250
_TRIAL_SECONDS = 60
_INSTALLED_IN = ("site-packages", "dist-packages")


class LateModules:
    def __init__(self) -> None:
        # Where what is installed lies, this package included.
        here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        installed = [path for path in sys.path if os.path.basename(path) in _INSTALLED_IN]
        self._roots = tuple(os.path.join(path, "") for path in (os.path.dirname(os.__file__), here, *installed))
        self._reports: dict[str, int] = {}
        self._waiting: list[str] = []
        self._tried: list[str] = []
        # The process that tries them.
        self.trial: int | None = None
        self.settle()

    def settle(self) -> None:
        """In the server, before a child is forked: what it will find."""
        self._count = len(sys.modules)
        self._missing = missing()

    # -- in a child, at its end

    def found(self, task: Any) -> list:
        """What it had to load, as far as others could find it loaded. A child that loaded nothing looks at nothing."""
        number = len(sys.modules) - self._count
        if number <= 0:
            return []
        names = [name for name in self._missing if name in sys.modules]
        if self._is_of_a_package(task):
            latest = list(itertools.islice(reversed(sys.modules), number))
            names += [name for name in reversed(latest) if name not in SOMETIMES and self._is_installed(name)]
        return names[:_MAX_NAMES]

    def installed(self) -> list:
        """Of what was loaded since this process began, what any file may find loaded."""
        latest = itertools.islice(reversed(sys.modules), len(sys.modules) - self._count)
        return [name for name in reversed(list(latest)) if name not in SOMETIMES and self._is_installed(name)]

    def _is_of_a_package(self, task: Any) -> bool:
        return task is not None and "python_callable" not in vars(task) and self._is_installed(type(task).__module__)

    def _is_installed(self, name: str) -> bool:
        """Of a module that is loaded."""
        spec = getattr(sys.modules.get(name), "__spec__", None)
        origin = getattr(spec, "origin", None)
        return getattr(spec, "name", None) == name and isinstance(origin, str) and origin.startswith(self._roots)

    # -- in the server

    def hear(self, names: list) -> bool:
        """Of what a child has found: whether something was loaded. The rest waits for its trial."""
        groups = [name for name in missing() if name in names]
        for name in groups:
            with contextlib.suppress(Exception):  # then children go on loading it for themselves
                add(name)
        for name in names:
            if name not in SOMETIMES and name not in sys.modules:
                self._reports[name] = self._reports.get(name, 0) + 1
                if self._reports[name] == _WORTHWHILE:
                    self._waiting.append(name)
        return bool(groups)

    def begin_trial(self, leave_to_parent: Callable[[], None]) -> None:
        """Of what waits, in a process of its own, unless there is one already."""
        if self.trial is not None:
            return
        waiting = [name for name in self._waiting if name not in sys.modules]
        self._tried, self._waiting = waiting[:_MAX_NAMES], waiting[_MAX_NAMES:]
        if not self._tried:
            return
        parent = os.getpid()
        with contextlib.suppress(OSError):  # no room now: attempts go on loading them
            pid = os.fork()
            if pid == 0:
                try:
                    leave_to_parent()
                    _try_to_load(self._tried, parent, self._is_installed)
                finally:
                    os._exit(0)
            self.trial = pid

    def end_trial(self, status: int) -> None:
        """Loads what can be. What is behind the one that cannot be tries again, unless nothing is known of it."""
        self.trial = None
        code = os.waitstatus_to_exitcode(status)
        if code < 0:
            return
        self._waiting = self._tried[code + 1 :] + self._waiting
        for name in self._tried[:code]:
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def _try_to_load(names: list, parent: int, is_installed: Callable[[str], bool]) -> NoReturn:
    """In a process of its own. Its exit status: how many of the names, from the first on, a server may load."""
    loaded = 0
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        die_with_parent(parent=parent)
        signal.alarm(_TRIAL_SECONDS)
        null = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(null, standard)
        for name in names:
            importlib.import_module(name)
            if has_threads_across_forks() or not is_installed(name):
                break
            loaded += 1
    finally:
        os._exit(loaded)
