"""The logs of the tasks on the standard output, while `dag.test()` runs."""

from __future__ import annotations

import contextlib
import logging
import sys

from ..run.logs import clean, set_level, traceback_text
from ..run.masks import masks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


class _Printer(logging.Handler):
    def __init__(self, stream: TextIO | None) -> None:
        super().__init__()
        self._stream = stream

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = record.getMessage()
            if record.exc_info and record.exc_info[1] is not None:
                text += "\n" + traceback_text(record.exc_info[1])
            moment = self.format_time(record)
            # The stream of now: pytest replaces it for each test.
            (self._stream or sys.stdout).write(f"[{moment}] {record.levelname} - {clean(masks.apply(text))}\n")
        except Exception:
            self.handleError(record)

    @staticmethod
    def format_time(record: logging.LogRecord) -> str:
        return logging.Formatter().formatTime(record)


@contextlib.contextmanager
def printed_logs(stream: TextIO | None = None):
    """Where the caller prints logs already, as with `logging.basicConfig()`, they are not printed twice."""
    root = logging.getLogger()
    level = root.level
    set_level()
    printer = None
    if not any(getattr(handler, "stream", None) in (sys.stdout, sys.stderr) for handler in root.handlers):
        printer = _Printer(stream)
        root.addHandler(printer)
    try:
        yield
    finally:
        root.setLevel(level)
        if printer is not None:
            root.removeHandler(printer)
