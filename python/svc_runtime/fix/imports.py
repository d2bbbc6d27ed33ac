"""Imports from old paths: which there are, and the statements to write in their place.

A name that only moved changes its module; a name that is called differently now is renamed wherever the file uses it, or
imported `as` the old name where that could mean something else.
"""

from __future__ import annotations

import ast
import tokenize

from ..old_import_paths import moved, present_module, present_path
from .findings import OLD, Finding
from .places import File, Place
from .source import Edit

_LONGEST_LINE = 100
# What the present class has no more: who uses it needs the old one, and a person.
_LEFT_BEHIND = {
    "airflow.sdk.Variable": {"setdefault", "update", "check_for_write_conflict", "get_variable_from_secrets"},
    "airflow.sdk.Connection": {"parse_from_uri", "test_connection", "to_dict", "from_json"},
}


class _Name:
    """One name of an import statement and what becomes of it."""

    def __init__(self, alias: ast.alias, module: str, name: str, local: str, uses: list[Edit]) -> None:
        self.alias = alias
        self.module = module
        self.name = name
        self.local = local
        self.uses = uses

    @property
    def text(self) -> str:
        return self.name if self.name == self.local else f"{self.name} as {self.local}"


def scan_imports(file: File) -> list[Finding]:
    found: list[Finding] = []
    for place in file.places:
        if place.guarded:
            continue
        if isinstance(place.node, ast.ImportFrom) and place.node.level == 0:
            finding = _from_import(file, place, place.node)
        elif isinstance(place.node, ast.Import):
            finding = _plain_import(file, place.node)
        else:
            continue
        if finding is not None:
            found.append(finding)
    return found


def _from_import(file: File, place: Place, node: ast.ImportFrom) -> Finding | None:
    module = node.module or ""
    if not module.startswith("airflow"):
        return None
    if node.names[0].name == "*":
        if module not in moved():
            return None
        homes = sorted({path.rpartition(".")[0] for path in moved()[module].values()})
        why = "name what you use of it"
        return Finding(OLD, node, old=f"from {module} import *", new=f"imports from {', '.join(homes)}", by_hand=why)
    names: list[_Name] = []
    problems: list[str] = []
    changed = False
    for alias in node.names:
        planned = _plan(file, module, alias)
        if isinstance(planned, str):
            problems.append(planned)
            changed = True
        elif planned is None:
            names.append(_Name(alias, module, alias.name, alias.asname or alias.name, []))
        else:
            changed = True
            names.append(planned)
    if not changed:
        return None
    old = f"from {module} import {', '.join(alias.name for alias in node.names)}"
    if problems:
        return Finding(OLD, node, old=old, new="", by_hand="; ".join(problems))
    statements = _statements(names)
    edits = [*_rewritten(file, place, node, names), *(edit for name in names for edit in name.uses)]
    return Finding(OLD, node, old=old, new=" and ".join(statements), edits=edits)


def _plan(file: File, module: str, alias: ast.alias) -> _Name | str | None:
    """Where the name is now; a text where only a person can say; None when it is right as it is."""
    local = alias.asname or alias.name
    path = present_path(module, alias.name)
    if path is None:
        inner = f"{module}.{alias.name}"
        return _plan_module(file, inner, alias, local) if inner in moved() else None
    home, _, name = path.rpartition(".")
    behind = _left_behind(file, path, local)
    if behind:
        return f"{home}.{name} has no {behind}"
    if name == alias.name or alias.asname:
        return _Name(alias, home, name, name if local == alias.name else local, [])
    uses = _renamed_uses(file, local, name, path)
    return _Name(alias, home, name, local if uses is None else name, uses or [])


def _left_behind(file: File, path: str, local: str) -> str:
    missing = _LEFT_BEHIND.get(path, set())
    used = {node.attr for node in _attributes_of(file, local)} & missing if missing else set()
    return ", ".join(sorted(used))


def _attributes_of(file: File, local: str) -> list[ast.Attribute]:
    return [
        place.node
        for place in file.places
        if isinstance(place.node, ast.Attribute)
        and isinstance(place.node.value, ast.Name)
        and place.node.value.id == local
    ]


def _renamed_uses(file: File, old: str, new: str, path: str) -> list[Edit] | None:
    """Edits that give every use of the name its new one; None when that could change what the file means."""
    if len(file.bindings.get(old, [])) != 1 or old in file.assigned:
        return None
    if file.exported is None or old in file.exported or old in file.texts:
        return None
    others = file.bindings.get(new, [])
    if new in file.assigned or any(_present(binding.path) != path for binding in others):
        return None
    edits = []
    for place in file.places:
        node = place.node
        if not isinstance(node, ast.Name):
            continue
        if node.id == new and not others:
            return None
        if node.id == old:
            if not file.has_position(place):
                return None
            edits.append(Edit(*file.source.span(node), new))
    return edits


def _present(path: str) -> str:
    module, _, name = path.rpartition(".")
    return present_path(module, name) or path


def _plan_module(file: File, module: str, alias: ast.alias, local: str) -> _Name | str:
    """`from airflow.operators import bash_operator`: the module that everything used of it is in now."""
    plan = _module_uses(file, module, local)
    if isinstance(plan, str):
        return plan
    home, edits = plan
    parent, _, leaf = home.rpartition(".")
    return _Name(alias, parent, leaf, local, edits)


def _module_uses(file: File, module: str, local: str) -> tuple[str, list[Edit]] | str:
    if file.binding(local) is None:
        return f"{local} stands for several things in this file"
    whole = present_module(module)
    attributes = _attributes_of(file, local)
    uses = sum(isinstance(place.node, ast.Name) and place.node.id == local for place in file.places)
    if uses > len(attributes) or not attributes:
        return (whole, []) if whole is not None else f"the names of {module} are in several modules now"
    homes = set()
    edits = []
    for node in attributes:
        path = present_path(module, node.attr)
        if path is None:
            return f"{module} has no {node.attr} any more"
        home, _, name = path.rpartition(".")
        homes.add(home)
        if name != node.attr:
            end = file.source.span(node)[1]
            edits.append(Edit(end - len(node.attr), end, name))
    if len(homes) > 1:
        return f"the names used of it are in {' and '.join(sorted(homes))} now"
    return homes.pop(), edits


def _plain_import(file: File, node: ast.Import) -> Finding | None:
    """`import airflow.operators.bash_operator`, with and without `as`."""
    edits: list[Edit] = []
    problems: list[str] = []
    news: list[str] = []
    olds: list[str] = []
    for alias in node.names:
        if alias.name not in moved() or alias.name == "airflow":
            continue
        olds.append(alias.name)
        plan = _module_uses(file, alias.name, alias.asname) if alias.asname else _chains(file, alias.name)
        if isinstance(plan, str):
            problems.append(plan)
            continue
        homes, uses = plan
        text = f"{homes} as {alias.asname}" if alias.asname else homes
        news.append(f"import {text}")
        edits += [Edit(*file.source.span(alias), text), *uses]
    if not olds:
        return None
    old = f"import {', '.join(olds)}"
    if problems:
        return Finding(OLD, node, old=old, by_hand="; ".join(problems))
    return Finding(OLD, node, old=old, new=" and ".join(news), edits=edits)


def _chains(file: File, module: str) -> tuple[str, list[Edit]] | str:
    """Uses by the full path (`airflow.operators.bash_operator.BashOperator`), and the modules to import for them."""
    homes = set()
    edits = []
    for place in file.places:
        node = place.node
        if not isinstance(node, ast.Attribute) or file.path(node) != f"{module}.{node.attr}":
            continue
        if isinstance(place.parent, ast.Attribute) and f"{module}.{node.attr}" in moved():
            continue  # a module below this one
        path = present_path(module, node.attr)
        if path is None:
            return f"{module} has no {node.attr} any more"
        if not file.has_position(place):
            return f"{node.attr} is used in an f-string"
        homes.add(path.rpartition(".")[0])
        edits.append(Edit(*file.source.span(node), path))
    whole = present_module(module)
    if not homes:
        return (whole, []) if whole is not None else f"the names of {module} are in several modules now"
    return ", ".join(sorted(homes)), edits


def _grouped(names: list[_Name]) -> dict[str, list[_Name]]:
    groups: dict[str, list[_Name]] = {}
    for name in names:
        members = groups.setdefault(name.module, [])
        if not any(known.text == name.text for known in members):
            members.append(name)
    return groups


def _statements(names: list[_Name]) -> list[str]:
    return [
        f"from {home} import {', '.join(name.text for name in members)}" for home, members in _grouped(names).items()
    ]


def _rewritten(file: File, place: Place, node: ast.ImportFrom, names: list[_Name]) -> list[Edit]:
    source = file.source
    groups = _grouped(names)
    if len(groups) == 1 and len(names) == len(next(iter(groups.values()))):
        edits = []
        tokens = source.tokens(node)
        last = next(index for index, token in enumerate(tokens) if token[1] == "import" and token[0] == tokenize.NAME)
        home = names[0].module
        if home != node.module:
            edits.append(Edit(tokens[1][2], tokens[last - 1][3], home))
        for name in names:
            if source.of(name.alias) != name.text and name.text != _written(name.alias):
                edits.append(Edit(*source.span(name.alias), name.text))
        return edits
    start, end = source.span(node)
    indent = source.text[source.line_start(start) : start]
    comments = [(text, first) for kind, text, first, _ in source.tokens(node) if kind == tokenize.COMMENT]
    if indent.strip():
        separator = "; "
        indent = ""
    else:
        separator = source.newline + indent
    notes: dict[int, list[str]] = {}
    loose = []
    for text, first in comments:
        row = source.text[source.line_start(first) : first]
        owner = [
            name
            for name in names
            if source.span(name.alias)[0] < first and source.line_start(first) <= source.span(name.alias)[0]
        ]
        if row.strip() and owner:
            notes.setdefault(id(owner[-1]), []).append(text)
        else:
            loose.append(text)
    lines = [*loose]
    for home, members in groups.items():
        plain = f"from {home} import {', '.join(name.text for name in members)}"
        if any(id(name) in notes for name in members) or (len(indent + plain) > _LONGEST_LINE and separator != "; "):
            rows = [f"    {name.text},{''.join('  ' + note for note in notes.get(id(name), []))}" for name in members]
            lines.append((source.newline + indent).join([f"from {home} import (", *rows, ")"]))
        else:
            lines.append(plain)
    return [Edit(start, end, separator.join(lines))]


def _written(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name
