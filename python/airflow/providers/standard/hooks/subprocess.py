"""SubprocessHook: run a command and keep its last line."""

from __future__ import annotations

import contextlib
import tempfile
from collections import namedtuple

from svc_runtime.run.hooks import BaseHook


@contextlib.contextmanager
def working_directory(cwd: str | None = None):
    """Gives this folder, or a temporary one that is removed afterwards."""
    if cwd is not None:
        yield cwd
        return
    with tempfile.TemporaryDirectory(prefix="airflowtmp") as folder:
        yield folder


SubprocessResult = namedtuple("SubprocessResult", ["exit_code", "output"])


class SubprocessHook(BaseHook):
    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self.output_encoding = "utf-8"
        self._process = None

    def run_command(self, command: list, env=None, output_encoding: str = "utf-8", cwd=None) -> SubprocessResult:
        from svc_runtime.run.commands import run_command

        self.output_encoding = output_encoding
        code, last = run_command(self, command, env=env, cwd=cwd)
        return SubprocessResult(exit_code=code, output=last)

    def send_sigterm(self) -> None:
        from svc_runtime.run.commands import stop

        stop(self._process)
