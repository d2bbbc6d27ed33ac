"""An attempt in the process that asked for it, so that breakpoints stop in the body and the debugger sees its variables."""

from __future__ import annotations

import bdb
import contextlib
import copy
import threading

from ..exceptions import AirflowTaskTimeout, TaskDeferred
from ..run.attempt import Attempt
from ..run.stopping import Stopping

# What a task may raise to end itself although it is no Exception.
_ENDS_OF_TASKS = (Exception, SystemExit, AirflowTaskTimeout, TaskDeferred)


class LocalStopping(Stopping):
    """Signals reach only the main thread; elsewhere a task may take longer than its execution_timeout."""

    @contextlib.contextmanager
    def within(self, seconds: float):
        if threading.current_thread() is threading.main_thread():
            with super().within(seconds):
                yield
        else:
            yield


class LocalAttempt(Attempt):
    def leaves(self, error: BaseException) -> bool:
        """Ctrl-C, the end of the debugger and what pytest raises (`pytest.skip()`) are for the caller."""
        return isinstance(error, bdb.BdbQuit) or not isinstance(error, _ENDS_OF_TASKS)

    def own(self, task):
        """The DAG may run again, so rendering must not change its tasks."""
        return copy.copy(task)
