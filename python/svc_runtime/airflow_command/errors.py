from __future__ import annotations


class CommandError(Exception):
    """Ends the program with this message and exit code."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code
