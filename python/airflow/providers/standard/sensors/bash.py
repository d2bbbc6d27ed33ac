"""BashSensor: done when the command exits with 0."""

from __future__ import annotations

import os

from svc_runtime.exceptions import AirflowFailException
from svc_runtime.record.sensor import BaseSensorOperator


class BashSensor(BaseSensorOperator):
    template_fields = ("bash_command", "env")

    def __init__(
        self, *, bash_command, env=None, output_encoding="utf-8", retry_exit_code: int | None = None, **kwargs
    ):
        super().__init__(**kwargs)
        self.bash_command = bash_command
        self.env = env
        self.output_encoding = output_encoding
        self.retry_exit_code = retry_exit_code
        self._process = None

    def poke(self, context):
        from svc_runtime.run.commands import run_bash

        code, _ = run_bash(
            self, self.bash_command, env=self.env if self.env is not None else dict(os.environ), cwd=None
        )
        if code == 0:
            return True
        if self.retry_exit_code is not None and code != self.retry_exit_code:
            raise AirflowFailException(f"Command exited with return code {code}")
        return False
