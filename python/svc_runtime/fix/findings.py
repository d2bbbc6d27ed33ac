"""What was found in a file, where, and what to do about it."""

from __future__ import annotations

from .source import Edit

# `old` has a present spelling; `gone` has none and stops the file; `removed` has none and is only told.
OLD, GONE, REMOVED = "old", "gone", "removed"


class Finding:
    def __init__(
        self,
        kind: str,
        node,
        *,
        old: str,
        new: str = "",
        instead: str = "",
        edits: list[Edit] | None = None,
        by_hand: str = "",
        refuses: bool = True,
    ) -> None:
        self.kind = kind
        # Of what is gone: whether the file does not load for it.
        self.refuses = kind == GONE and refuses
        self.line: int = node.lineno
        self.column: int = node.col_offset + 1
        self.old = old
        self.new = new
        self.instead = instead
        self.edits = edits
        # Why nobody but the author can write the new spelling; empty when `edits` do.
        self.by_hand = by_hand if edits is None else ""

    @property
    def is_fixable(self) -> bool:
        return self.edits is not None

    @property
    def message(self) -> str:
        if self.kind == GONE:
            return f"{self.old} is gone: {self.instead}"
        if self.kind == REMOVED:
            return f"{self.old} has no effect: {self.instead}"
        text = f"{self.old} is an old spelling; write {self.new}" if self.new else f"{self.old} is an old spelling"
        return f"{text} ({self.by_hand})" if self.by_hand else text

    def to_json(self) -> dict:
        return {
            "kind": self.kind,
            "line": self.line,
            "column": self.column,
            "old": self.old,
            "new": self.new,
            "instead": self.instead or self.by_hand,
            "message": self.message,
            "fixable": self.is_fixable,
        }
