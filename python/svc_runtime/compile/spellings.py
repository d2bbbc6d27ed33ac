"""Old spellings of a DAG file and of the project's modules it imports: warnings; uses of what is gone: a refusal."""

from __future__ import annotations

import ast
import os

from ..fix.scan import scan_for_compile
from ..record import current


class GoneError(Exception):
    """The file uses something that no longer exists: every run of it would fail."""

    def __init__(self, message: str, path: str, line: int, instead: str) -> None:
        super().__init__(message)
        self.path = path
        self.line = line
        self.instead = instead


def check_spellings(text: str, tree: ast.Module, shown: str) -> None:
    for finding in scan_for_compile(text, tree):
        if finding.refuses:
            raise GoneError(f"{finding.old} is gone", shown, finding.line, _sentence(finding.instead))
        hint = "; `svc fix` rewrites it" if finding.is_fixable else ""
        current.warn(f"{shown}:{finding.line}: {finding.message}{hint}")


def check_modules(modules: list, folder: str) -> None:
    for module in modules:
        path = os.path.join(folder, module["path"])
        try:
            with open(path, encoding="utf-8-sig") as file:
                text = file.read()
            tree = ast.parse(text)
        except (OSError, UnicodeDecodeError, SyntaxError):
            continue  # it was imported all the same, so Python knows better; only the spelling is not looked at
        check_spellings(text, tree, module["path"])


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
