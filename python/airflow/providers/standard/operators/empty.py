"""EmptyOperator: structure without work; the scheduler finishes it without starting a process."""

from __future__ import annotations

from svc_runtime.record.operator import BaseOperator


class EmptyOperator(BaseOperator):
    ui_color = "#e8f7e4"
    _is_empty = True

    def execute(self, context):
        return None
