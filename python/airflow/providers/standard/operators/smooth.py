"""SmoothOperator: logs a song, kept for files that use it."""

from __future__ import annotations

from svc_runtime.record.operator import BaseOperator


class SmoothOperator(BaseOperator):
    ui_color = "#e8f7e4"

    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self.yt_link = "https://www.youtube.com/watch?v=4TYv2PhG89A"

    def execute(self, context):
        self.log.info("Enjoy Sade - Smooth Operator: %s", self.yt_link)
