"""FileSensor: done when a file (or a non-empty directory) exists."""

from __future__ import annotations

import datetime
import glob
import os

from svc_runtime.exceptions import AirflowException
from svc_runtime.record.sensor import BaseSensorOperator

from ..triggers.file import FileTrigger


class FileSensor(BaseSensorOperator):
    template_fields = ("filepath",)
    ui_color = "#91818a"

    def __init__(
        self,
        *,
        filepath,
        fs_conn_id="fs_default",
        recursive=False,
        deferrable: bool = False,
        start_from_trigger: bool = False,
        trigger_kwargs=None,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.filepath = filepath
        self.fs_conn_id = fs_conn_id
        self.recursive = recursive
        self.deferrable = deferrable
        self.start_from_trigger = start_from_trigger
        self.trigger_kwargs = trigger_kwargs

    @property
    def path(self) -> str:
        from ..hooks.filesystem import FSHook

        return os.path.join(FSHook(self.fs_conn_id).get_path(), self.filepath)

    def poke(self, context):
        for path in glob.glob(self.path, recursive=self.recursive):
            if os.path.isfile(path):
                return True
            for _, _, files in os.walk(path):
                if files:
                    return True
        return False

    def execute(self, context):
        if not self.deferrable:
            return super().execute(context)
        if self.poke(context):
            return None
        trigger = FileTrigger(filepath=self.path, recursive=self.recursive, poke_interval=self.poke_interval)
        return self.defer(
            trigger=trigger, method_name="execute_complete", timeout=datetime.timedelta(seconds=self.timeout)
        )

    def execute_complete(self, context, event=None) -> None:
        if not event:
            raise AirflowException(f"{self.task_id} task failed as {self.filepath} not found.")
        self.log.info("%s completed successfully as %s found.", self.task_id, self.filepath)
