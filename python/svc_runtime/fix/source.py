"""A file's text, positions in it, and edits. Everything that no edit names stays as it is, to the byte."""

from __future__ import annotations

import ast
import io
import re
import tokenize

_LINE_END = re.compile(r"\r\n|\r|\n")


class Source:
    def __init__(self, text: str, tree: ast.Module | None = None) -> None:
        self.text = text
        self.tree = ast.parse(text) if tree is None else tree
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        ends = _LINE_END.search(text)
        self.newline = ends.group() if ends else "\n"

    def offset(self, line: int, column: int) -> int:
        """From a position of `ast`, whose columns count the bytes of UTF-8."""
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        row = self.text[start:end]
        return start + (column if row.isascii() else len(row.encode()[:column].decode()))

    def span(self, node) -> tuple[int, int]:
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def of(self, node) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def line_start(self, offset: int) -> int:
        return max(self.text.rfind("\n", 0, offset), self.text.rfind("\r", 0, offset)) + 1

    def tokens(self, node) -> list[tuple[int, str, int, int]]:
        """Type, text, start and end (offsets) of the tokens of one statement."""
        start, end = self.span(node)
        text = self.text[start:end]
        starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        found = []
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type in (tokenize.NEWLINE, tokenize.ENDMARKER, tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
                continue
            first = start + starts[token.start[0] - 1] + token.start[1]
            found.append((token.type, token.string, first, start + starts[token.end[0] - 1] + token.end[1]))
        return found

    def without(self, start: int, end: int) -> tuple[int, int]:
        """The span to delete so that an element of a call or a display goes with its comma, and with its line if alone."""
        text = self.text
        after = re.compile(r"\s*,[ \t]*").match(text, end)
        if after:
            end = after.end()
        else:
            before = re.compile(r",\s*$").search(text[:start])
            if before:
                return before.start(), end
        line = self.line_start(start)
        rest = _LINE_END.match(text, end)
        if rest and text[line:start].strip() == "":
            return line, rest.end()
        return start, end


class Edit:
    """Replace text[start:end]."""

    def __init__(self, start: int, end: int, new: str) -> None:
        self.start, self.end, self.new = start, end, new


def apply_edits(text: str, groups: list[list[Edit]]) -> tuple[str, int]:
    """The text with all groups that do not touch another's text (edits of a group belong together); how many were applied."""
    taken: list[tuple[int, int]] = []
    chosen: list[Edit] = []
    count = 0
    for group in groups:
        fresh = [edit for edit in group if not any(_same(edit, known) for known in chosen)]
        if any(edit.start < end and start < edit.end for edit in fresh for start, end in taken):
            continue
        count += 1
        chosen += fresh
        taken += [(edit.start, max(edit.end, edit.start + 1)) for edit in fresh]
    for edit in sorted(chosen, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.new + text[edit.end :]
    return text, count


def _same(a: Edit, b: Edit) -> bool:
    return (a.start, a.end, a.new) == (b.start, b.end, b.new)
