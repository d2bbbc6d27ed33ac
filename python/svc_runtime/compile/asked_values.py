"""Variables and connections that a file reads while it loads, asked one by one of the process that compiles it.

    ?{"kind": "variable", "name": "x", "declared": true}    the child asks, on the result pipe
    {"text": …} | {"text": null} | {"refusal": "…"}         the answer, on a pipe of its own

`declared` is true if the source of the file writes the name out: what `auth.secret_scoping=enforce` allows.
"""

from __future__ import annotations

import json
import os
import threading

from ..exceptions import RecordingError
from ..record import current
from .secrets import Declared, scan_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast

_LONGEST_NAME = 250
_LONGEST_ANSWER = 4 * 1024 * 1024


class AskedValues:
    """Asks for each name once, so that a file sees one value of it."""

    def __init__(self, asks_fd: int, answers_fd: int) -> None:
        self._asks = asks_fd
        self._answers = answers_fd
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], str | None] = {}
        # The tree of the file, until the first question.
        self.source: ast.AST | None = None
        self._declared = Declared()

    def get(self, kind: str, name: str) -> str | None:
        """None where there is nothing of that name."""
        if os.getpid() != self._process:
            raise RecordingError(
                f"the {kind} {name!r} is read in another process than the one that loads the file",
                "Read it in the file, and pass it on",
            )
        key = (kind, name)
        with self._lock:
            if key not in self._known:
                self._known[key] = self._ask(kind, name)
        return self._known[key]

    def _ask(self, kind: str, name: str) -> str | None:
        if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
            raise RecordingError(
                f"the name of a {kind} has 1 to {_LONGEST_NAME} characters", "Give the name as a short text"
            )
        if self.source is not None:
            scan_source(self.source, self._declared)
            self.source = None
        declared = self._declared.variables if kind == "variable" else self._declared.connections
        asked = {"kind": kind, "name": name, "declared": name in declared}
        os.write(self._asks, b"?" + json.dumps(asked).encode() + b"\n")
        answer = json.loads(self._read_line())
        if answer.get("note"):
            current.warn_here(answer["note"])
        if answer.get("refusal"):
            raise RecordingError(answer["refusal"], answer.get("instead") or "")
        return answer["text"]

    def _read_line(self) -> bytes:
        line = bytearray()
        while not line.endswith(b"\n"):
            chunk = os.read(self._answers, 1 << 16)
            if not chunk or len(line) > _LONGEST_ANSWER:
                raise RecordingError("the control plane did not answer", "Compile the file again")
            line += chunk
        return bytes(line)
