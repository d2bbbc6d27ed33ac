"""Being stopped: SIGTERM from outside, and the task's own execution_timeout.

Both call the operator's on_kill and then raise in the body, so that `finally` blocks run. Neither exception is an
Exception: an author's `except Exception` must not keep a stopped task alive. After SIGTERM there is no result; the process
ends by that signal, and the agent, who sent it, knows why.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal

# signal.signal() makes enums of what it is given and returns; costly in a child.
from _signal import signal as set_handler

from ..exceptions import AirflowTaskTerminated, AirflowTaskTimeout
from .logs import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SIGTERM = int(signal.SIGTERM)


class Stopping:
    def __init__(self, channel) -> None:
        self._channel = channel
        self._owner = os.getpid()
        self.terminated = False
        self.task: Any = None

    def install(self) -> None:
        set_handler(_SIGTERM, self._on_signal)

    def _on_signal(self, number, frame) -> None:
        if os.getpid() != self._owner:
            # A process the task forked inherits this handler; stopping it is its own affair.
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)
            return
        if not self._channel.steady.postpone(self._terminate):
            self._terminate()

    def _terminate(self) -> None:
        if self.terminated:
            return
        self.terminated = True
        say("The task was asked to stop", level=logging.WARNING)
        self.kill()
        raise AirflowTaskTerminated("the task was asked to stop")

    def kill(self) -> None:
        if self.task is None:
            return
        try:
            self.task.on_kill()
        except Exception as error:
            say("on_kill() failed", level=logging.ERROR, error=error)

    def die_if_terminated(self) -> None:
        """Also when the body swallowed the exception and went on to its end."""
        if self.terminated:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)

    @contextlib.contextmanager
    def within(self, seconds: float):
        """Runs a block that may take no longer. The agent watches the same limit from outside, a little later."""

        def expire() -> None:
            raise AirflowTaskTimeout(f"the task ran longer than its execution_timeout of {seconds:g} s")

        def on_alarm(number, frame) -> None:
            if os.getpid() == self._owner and not self._channel.steady.postpone(expire):
                expire()

        signal.signal(signal.SIGALRM, on_alarm)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        except AirflowTaskTimeout:
            self.kill()
            raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
