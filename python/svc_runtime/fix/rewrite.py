"""A file with its old spellings rewritten, or the reason why it is left alone."""

from __future__ import annotations

import ast
import difflib
import io
import re
import tokenize

from .context_keys import template_changes
from .findings import Finding
from .places import File
from .scan import scan
from .source import Edit, Source, apply_edits

# One rewriting may uncover the next (a renamed import, then the arguments of what it names).
_ROUNDS = 6
_LINE_END = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")


class Rewritten:
    def __init__(self, before: str, after: str, findings: list[Finding], left: list[Finding]) -> None:
        self.before = before
        self.after = after
        # Of the file as it was, and what is still there in the file as it is now.
        self.findings = findings
        self.left = left


def read(path: str) -> tuple[str, str]:
    """Text and encoding, line ends as they are. Raises OSError, UnicodeDecodeError and SyntaxError (an unknown encoding)."""
    with open(path, "rb") as file:
        raw = file.read()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    return raw.decode(encoding), encoding


def rewrite_python(text: str, exported: frozenset[str] | None = frozenset()) -> Rewritten:
    """Raises SyntaxError when the file is none of Python 3."""
    findings = scan(Source(text), exported)
    after = text
    left = findings
    for _ in range(_ROUNDS):
        groups = [finding.edits for finding in left if finding.edits]
        if not groups:
            break
        changed, _count = apply_edits(after, groups)
        if changed == after:
            break
        try:
            compile(changed, "<fixed>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        except SyntaxError:
            # Ours, not the author's: better nothing than a broken file.
            return Rewritten(text, text, findings, findings)
        if File(Source(changed)).undefined() - File(Source(after)).undefined():
            return Rewritten(text, text, findings, findings)
        after = changed
        left = scan(Source(after), exported)
    return Rewritten(text, after, findings, left)


class _At:
    def __init__(self, line: int, column: int) -> None:
        self.lineno, self.col_offset = line, column


def rewrite_template(text: str) -> Rewritten:
    """A file of SQL or shell with Jinja in it."""
    findings = []
    for change in template_changes(text):
        before = text[: change.start]
        at = _At(before.count("\n") + 1, change.start - (before.rfind("\n") + 1))
        edits = None if change.by_hand else [Edit(change.start, change.end, change.new)]
        findings.append(
            Finding("old", at, old=f"{{{{ {change.old} }}}}", new=change.new, edits=edits, by_hand=change.by_hand)
        )
    after, _ = apply_edits(text, [finding.edits for finding in findings if finding.edits])
    return Rewritten(text, after, findings, [finding for finding in findings if not finding.edits])


def difference(before: str, after: str, name: str) -> str:
    lines = difflib.unified_diff(_lines(before), _lines(after), fromfile=f"a/{name}", tofile=f"b/{name}")
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def _lines(text: str) -> list[str]:
    return [line for line in _LINE_END.split(text) if line]


def exported_names(sources: list[str]) -> frozenset[str] | None:
    """Names that files take from modules other than Airflow's: a file that renames one could break them. None: all (a star)."""
    names: set[str] = set()
    for text in sources:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and not (node.level == 0 and (node.module or "").startswith("airflow")):
                if node.names[0].name == "*":
                    # A star of a module outside the project says nothing about it, but which are outside is not known here.
                    return None
                names.update(alias.name for alias in node.names)
    return frozenset(names)
