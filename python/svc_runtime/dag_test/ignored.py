"""`.airflowignore` as in Airflow 3: patterns like those of `.gitignore`, each for its folder and all below it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

_FILE = ".airflowignore"


class _Rule:
    def __init__(self, folder: str, line: str) -> None:
        self.folder = folder
        self.brings_back = line.startswith("!")
        text = line[1:] if self.brings_back else line
        self.is_for_folders = text.endswith("/")
        text = text.rstrip("/")
        # A pattern with a slash counts from its own folder; any other one at every depth.
        anchor = "" if "/" in text else "(?:.*/)?"
        self._expression = re.compile(anchor + _expression(text.lstrip("/")))

    def matches(self, path: str, *, is_folder: bool) -> bool:
        if self.is_for_folders and not is_folder:
            return False
        return self._expression.fullmatch(os.path.relpath(path, self.folder)) is not None


_SPECIAL = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _expression(pattern: str) -> str:
    pieces = re.findall(r"\*\*/|/\*\*|\*\*|\*|\?|\[[^\]]+\]|.", pattern)
    return "".join(_SPECIAL.get(piece) or _class_or_text(piece) for piece in pieces)


def _class_or_text(piece: str) -> str:
    if piece.startswith("[") and len(piece) > 2:
        return "[^" + piece[2:] if piece[1] == "!" else piece
    return re.escape(piece)


def dag_files(folder: str) -> Iterator[str]:
    """The Python files below the folder, in order."""
    yield from _walk(os.path.abspath(folder), [])


def _walk(folder: str, rules: list[_Rule]) -> Iterator[str]:
    rules = rules + _rules_in(folder)
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        is_folder = os.path.isdir(path)
        if name == "__pycache__" or name.startswith(".") or _is_ignored(path, rules, is_folder=is_folder):
            continue
        if is_folder:
            yield from _walk(path, rules)
        elif name.endswith(".py"):
            yield path


def _rules_in(folder: str) -> list[_Rule]:
    try:
        with open(os.path.join(folder, _FILE), encoding="utf-8") as file:
            lines = [line.strip() for line in file]
    except FileNotFoundError:
        return []
    return [_Rule(folder, line) for line in lines if line.rstrip("/") and not line.startswith("#")]


def _is_ignored(path: str, rules: list[_Rule], *, is_folder: bool) -> bool:
    """The last rule that matches decides."""
    said = [rule.brings_back for rule in rules if rule.matches(path, is_folder=is_folder)]
    return bool(said) and not said[-1]
