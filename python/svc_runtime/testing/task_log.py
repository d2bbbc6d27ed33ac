"""What a task says in a test: log records, and what it prints, which goes its usual way as well."""

from __future__ import annotations

import contextlib
import datetime
import io
import logging
import sys

from ..run.logs import clean, set_level, traceback_text
from ..run.masks import masks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO


class _Handler(logging.Handler):
    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__()
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = record.getMessage()
            if record.exc_info and record.exc_info[1] is not None:
                # Handlers after this one, such as that of pytest, show the same frames: those of the author.
                record.exc_text = traceback_text(record.exc_info[1])
                text += "\n" + record.exc_text
            at = datetime.datetime.fromtimestamp(record.created, datetime.timezone.utc)
            self._say(f"[{at:%Y-%m-%d %H:%M:%S}] {record.levelname} - {text}")
        except Exception:
            self.handleError(record)


class _Tee(io.TextIOBase):
    """Keeps whole lines, and passes everything on."""

    def __init__(self, target: TextIO, say: Callable[[str], None]) -> None:
        self._target = target
        self._say = say
        self._rest = ""

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._say(line)
        return self._target.write(text)

    def flush(self) -> None:
        self._target.flush()

    def end(self) -> None:
        if self._rest:
            self._say(self._rest)

    def isatty(self) -> bool:
        return self._target.isatty()

    def fileno(self) -> int:
        return self._target.fileno()

    def __getattr__(self, name: str):
        return getattr(self._target, name)


class TaskLog:
    def __init__(self) -> None:
        self._lines: list[str] = []

    def __str__(self) -> str:
        return "\n".join(self._lines)

    def add(self, line: str) -> None:
        self._lines.append(clean(masks.apply(line)))

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        root = logging.getLogger()
        level = root.level
        handler = _Handler(self.add)
        out, err = _Tee(sys.stdout, self.add), _Tee(sys.stderr, self.add)
        set_level()
        root.handlers.insert(0, handler)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                yield
        finally:
            root.removeHandler(handler)
            root.setLevel(level)
            out.end()
            err.end()
