"""Helper functions of Airflow 1 and 2 that have no present name but a present way to write them."""

from __future__ import annotations

import ast

from .findings import OLD, Finding
from .places import File, Place
from .source import Edit, Source

_DAYS_AGO = "airflow.utils.dates.days_ago"
_APPLY_DEFAULTS = "airflow.utils.decorators.apply_defaults"
_LOST = {
    "round_time": "compute the time with datetime or pendulum",
    "date_range": "compute the dates with datetime or pendulum",
    "parse_execution_date": "use pendulum.parse",
    "infer_time_unit": "write the function yourself",
    "scale_time_units": "write the function yourself",
    "cron_presets": "write the cron expression, or the preset as text",
}


def scan_calls(file: File) -> list[Finding]:
    return [*_days_ago(file), *_apply_defaults(file), *_lost(file)]


def _days_ago(file: File) -> list[Finding]:
    """`days_ago(2)` → `pendulum.today("UTC").add(days=-2)`, as Airflow's own documents say."""
    uses = [
        place
        for place in file.places
        if isinstance(place.node, (ast.Name, ast.Attribute)) and file.path(place.node) == _DAYS_AGO
    ]
    imports = [
        (place, alias)
        for place in file.places
        if isinstance(place.node, ast.ImportFrom) and place.node.module == "airflow.utils.dates" and not place.guarded
        for alias in place.node.names
        if alias.name == "days_ago"
    ]
    if (not imports and not uses) or any(binding.place.guarded for binding in file.bindings.get("days_ago", [])):
        return []
    node = imports[0][0].node if imports else uses[0].node
    new = 'pendulum.today("UTC").add(days=-n)'
    edits: list[Edit] = []
    for place in uses:
        call = place.parent
        text = _pendulum_text(file.source, call) if isinstance(call, ast.Call) and call.func is place.node else None
        if text is None or not file.has_position(place):
            return [Finding(OLD, place.node, old="days_ago", new=new, by_hand="it is used in a way of its own here")]
        edits.append(Edit(*file.source.span(call), text))
    bound = file.bindings.get("pendulum", [])
    if (
        "pendulum" in file.assigned
        or any(binding.path != "pendulum" for binding in bound)
        or (file.exported is None or "days_ago" in file.exported)
    ):
        return [
            Finding(
                OLD, node, old="days_ago", new=new, by_hand="the name pendulum or days_ago is used for something else"
            )
        ]
    has_pendulum = any(binding.place.function is None and not binding.place.guarded for binding in bound)
    edits += _import_edits(file, imports, has_pendulum)
    return [Finding(OLD, node, old="days_ago()", new=new, edits=edits)]


def _pendulum_text(source: Source, call: ast.Call) -> str | None:
    if len(call.args) > 1 or any(
        keyword.arg is None or isinstance(keyword.value, ast.Starred) for keyword in call.keywords
    ):
        return None
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    days = call.args[0] if call.args else named.pop("n", None)
    if days is None or isinstance(days, ast.Starred) or not set(named) <= {"hour", "minute", "second", "microsecond"}:
        return None
    if isinstance(days, ast.Constant) and isinstance(days.value, int):
        shift = str(-days.value) if days.value else "0"
    else:
        shift = f"-({source.of(days)})"
    clock = ", ".join(f"{name}={source.of(value)}" for name, value in named.items())
    return f'pendulum.today("UTC").add(days={shift})' + (f".replace({clock})" if clock else "")


def _import_edits(file: File, imports: list[tuple[Place, ast.alias]], has_pendulum: bool) -> list[Edit]:
    """`days_ago` leaves its import statements; the first of them, or the first import, brings pendulum."""
    source = file.source
    edits = []
    added = has_pendulum
    for place, alias in imports:
        start, end = source.span(place.node)
        bring = "import pendulum" if not added and place.function is None else ""
        added = added or bool(bring)
        if len(place.node.names) == 1:
            if bring:
                edits.append(Edit(start, end, bring))
                continue
            alone = source.text[source.line_start(start) : start].strip() == ""
            only = place.parent is not None and len(getattr(place.parent, "body", [])) <= 1
            edits.append(
                Edit(start, end, "pass") if only else _line(source, start, end) if alone else Edit(start, end, "pass")
            )
        else:
            edits.append(Edit(*source.without(*source.span(alias)), ""))
            if bring:
                edits.append(Edit(start, start, bring + source.newline + source.text[source.line_start(start) : start]))
    if not added:
        first = next(
            (
                place.node
                for place in file.places
                if isinstance(place.node, (ast.Import, ast.ImportFrom))
                and place.function is None
                and not _is_future(place.node)
            ),
            None,
        )
        at = source.line_start(source.span(first)[0]) if first is not None else 0
        edits.append(Edit(at, at, "import pendulum" + source.newline))
    return edits


def _is_future(node) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _line(source: Source, start: int, end: int) -> Edit:
    """The whole line of a statement, unless something else is on it."""
    rest = source.text[end:]
    stripped = rest.lstrip(" \t")
    for ending in ("\r\n", "\n", "\r"):
        if stripped.startswith(ending):
            return Edit(source.line_start(start), end + len(rest) - len(stripped) + len(ending), "")
    return Edit(start, end, "pass")


def _apply_defaults(file: File) -> list[Finding]:
    """Every operator has the effect of this decorator: it goes, and its import."""
    source = file.source
    edits: list[Edit] = []
    first: ast.AST | None = None
    uses = decorators = 0
    for place in file.places:
        node = place.node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for decorator in node.decorator_list:
                if file.path(decorator) == _APPLY_DEFAULTS:
                    start, end = source.span(decorator)
                    edits.append(_line(source, source.text.rfind("@", 0, start), end))
                    decorators += 1
        elif isinstance(node, ast.ImportFrom) and node.module == "airflow.utils.decorators" and not place.guarded:
            for alias in node.names:
                if alias.name == "apply_defaults":
                    first = first or node
                    start, end = source.span(node)
                    alone = len(node.names) == 1
                    edits.append(_line(source, start, end) if alone else Edit(*source.without(*source.span(alias)), ""))
        elif isinstance(node, (ast.Name, ast.Attribute)) and file.path(node) == _APPLY_DEFAULTS:
            first = first or node
            uses += 1
    if first is None:
        return []
    is_plain = uses == decorators and all(edit.new == "" for edit in edits)
    return [
        Finding(
            OLD,
            first,
            old="apply_defaults",
            new="nothing in its place",
            edits=edits if is_plain else None,
            by_hand="it is used otherwise than as a decorator on a line of its own",
        )
    ]


def _lost(file: File) -> list[Finding]:
    found = []
    for place in file.places:
        node = place.node
        if isinstance(node, ast.Import):
            found += [
                Finding(OLD, node, old=f"import {alias.name}", by_hand="the module is gone: remove the import")
                for alias in node.names
                if alias.name in ("airflow.utils.dates", "airflow.utils.decorators")
            ]
        if isinstance(node, ast.ImportFrom) and node.module == "airflow.utils.dates" and not place.guarded:
            found += [
                Finding(OLD, node, old=f"airflow.utils.dates.{alias.name}", by_hand=_LOST[alias.name])
                for alias in node.names
                if alias.name in _LOST
            ]
    return found
