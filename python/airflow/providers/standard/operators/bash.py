"""BashOperator: run a command; its last output line is the task's value."""

from __future__ import annotations

import os
from collections.abc import Sequence

from svc_runtime.exceptions import AirflowException, AirflowSkipException
from svc_runtime.record.base_args import as_list
from svc_runtime.record.notset import NOTSET
from svc_runtime.record.operator import BaseOperator


def _identity(line: str):
    return line


class BashOperator(BaseOperator):
    template_fields: Sequence[str] = ("bash_command", "env", "cwd")
    template_fields_renderers = {"bash_command": "bash", "env": "json"}
    template_ext = (".sh", ".bash")
    ui_color = "#f0ede4"

    def __init__(
        self,
        *,
        bash_command,
        env: dict | None = None,
        append_env: bool = False,
        output_encoding: str = "utf-8",
        skip_on_exit_code=99,
        cwd: str | None = None,
        output_processor=_identity,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.bash_command = bash_command
        self.env = env
        self.output_encoding = output_encoding
        self.skip_on_exit_code = [] if skip_on_exit_code is None else as_list(skip_on_exit_code)
        self.cwd = cwd
        self.append_env = append_env
        self.output_processor = output_processor
        self._process = None

    def get_env(self, context) -> dict:
        from svc_runtime.run.environment import context_variables

        system = dict(os.environ)
        if self.env is None:
            env = system
        else:
            env = {**system, **self.env} if self.append_env else dict(self.env)
        env.update(context_variables(context))
        return env

    def execute(self, context):
        from svc_runtime.run.commands import run_bash

        if self.cwd is not None and not os.path.isdir(self.cwd):
            raise AirflowException(f"Can not find the cwd: {self.cwd}")
        if self.bash_command is NOTSET or not isinstance(self.bash_command, str):
            raise AirflowException("bash_command must be a non-empty string")
        code, last_line = run_bash(self, self.bash_command, env=self.get_env(context), cwd=self.cwd)
        if code in self.skip_on_exit_code:
            raise AirflowSkipException(f"Bash command returned exit code {code}. Skipping.")
        if code != 0:
            raise AirflowException(f"Bash command failed. The command returned a non-zero exit code {code}.")
        return self.output_processor(last_line)

    def on_kill(self) -> None:
        from svc_runtime.run.commands import stop

        stop(self._process)
