"""The author's line that raised an error."""

from __future__ import annotations

import linecache
import os
import sysconfig
import traceback

from ..run.logs import _is_ours

_LIBRARIES = tuple(
    os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


class AuthorLine:
    def __init__(self, path: str, number: int) -> None:
        self.path = path
        self.number = number

    @property
    def text(self) -> str:
        return linecache.getline(self.path, self.number).strip()

    def __str__(self) -> str:
        path = os.path.relpath(self.path)
        return f"{self.path if path.startswith('..') else path}:{self.number}"


def author_line(error: BaseException | None, dag_file: str) -> AuthorLine | None:
    """The deepest line of the DAG file; without one, the deepest line that is of no library."""
    if error is None:
        return None
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    of_file = [frame for frame in frames if frame.filename == dag_file]
    own = [frame for frame in frames if not os.path.realpath(frame.filename).startswith(_LIBRARIES)]
    for found in (of_file, own):
        if found:
            return AuthorLine(found[-1].filename, found[-1].lineno or 0)
    return None
