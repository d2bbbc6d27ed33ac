"""Keyword arguments of DAGs, tasks and a few calls that are called differently now, or are no more."""

from __future__ import annotations

import ast

from ..enums import OLD_TRIGGER_RULES
from .findings import OLD, REMOVED, Finding
from .places import File, Place
from .source import Edit

_SLA = "there are no SLAs any more; use a DeadlineAlert of the DAG (deadline=), or execution_timeout of the task"
_DROPPED = "remove it"

# By what is called: keyword → its present name. None: it has no effect and goes.
_DAG: dict[str, str | None] = {
    "schedule_interval": "schedule",
    "timetable": "schedule",
    "concurrency": "max_active_tasks",
    "fail_stop": "fail_fast",
    "default_view": None,
    "orientation": None,
    "full_filepath": None,
}
_TASK: dict[str, str | None] = {"task_concurrency": "max_active_tis_per_dag", "provide_context": None}
_CALLS: dict[str, dict[str, str | None]] = {
    "airflow.sdk.DAG": _DAG,
    "airflow.sdk.dag": _DAG,
    "airflow.sdk.Variable.get": {"default_var": "default"},
    "airflow.timetables.assets.AssetOrTimeSchedule": {"datasets": "assets"},
    "airflow.providers.standard.operators.trigger_dagrun.TriggerDagRunOperator": {
        **_TASK,
        "execution_date": "logical_date",
    },
}
# Without a present name that means the same.
_BY_HAND = {"sla": _SLA, "sla_miss_callback": _SLA}
_METHODS = {"airflow.sdk.Connection.get_connection_from_secrets": "get"}
# One of these is in every file for which scan_arguments has something to say.
WORDS = (
    *_DAG,
    *_TASK,
    *_BY_HAND,
    *(word for table in _CALLS.values() for word in table),
    *OLD_TRIGGER_RULES,
    "get_connection_from_secrets",
)
_DAG_CALLS = ("airflow.sdk.DAG", "airflow.sdk.dag")


# Words that nothing but a DAG or a task is given; the others count only where it is likely that one is meant.
_TELLING = {
    "schedule_interval",
    "fail_stop",
    "full_filepath",
    "task_concurrency",
    "provide_context",
    "sla_miss_callback",
}
_ALL_WORDS: dict[str, str | None] = {**_DAG, **_TASK, **dict.fromkeys(_BY_HAND)}
_UNKNOWN = "what it is given to cannot be known from the file"


def is_task_path(path: str | None) -> bool:
    """A class of operators or sensors of Airflow's, its `.partial`, or `@task` and its kinds."""
    if path is None or not path.startswith("airflow."):
        return False
    if path == "airflow.sdk.task" or path.startswith("airflow.sdk.task."):
        return True
    return (
        path.removesuffix(".partial")
        .rpartition(".")[2]
        .endswith(("Operator", "Sensor", "OperatorAsync", "SensorAsync"))
    )


def scan_arguments(file: File) -> list[Finding]:
    found: list[Finding] = []
    defaults: set[str] = set()
    # Nodes that some finding is about.
    told: set[int] = set()
    for place in file.places:
        node = place.node
        if not isinstance(node, ast.Call):
            continue
        path = file.present(node.func)
        if path in _METHODS and isinstance(node.func, ast.Attribute):
            found.append(_method(file, place, node.func, _METHODS[path]))
        is_dag = path in _DAG_CALLS
        is_task = is_task_path(path)
        table = _CALLS.get(path or "", _TASK if is_task else {})
        for keyword in node.keywords:
            if keyword.arg in table or (keyword.arg in _BY_HAND and (is_dag or is_task)):
                told.add(id(keyword))
            if keyword.arg in table:
                found.append(_keyword(file, place, node, keyword, table[keyword.arg]))
            elif keyword.arg in _BY_HAND and (is_dag or is_task):
                found.append(Finding(REMOVED, keyword, old=f"{keyword.arg}=", instead=_BY_HAND[keyword.arg]))
            elif keyword.arg == "trigger_rule" and (is_task or path is None):
                told.add(id(keyword.value))
                found += _trigger_rule(file, keyword.value)
            elif keyword.arg == "default_args":
                if isinstance(keyword.value, ast.Dict):
                    found += _default_args(file, keyword.value, told)
                elif isinstance(keyword.value, ast.Name):
                    defaults.add(keyword.value.id)
    for place in file.places:
        node = place.node
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Dict) or place.function is not None:
            continue
        if any(isinstance(target, ast.Name) and target.id in defaults for target in node.targets):
            found += _default_args(file, node.value, told)
    return [*found, *_by_their_words(file, told)]


def _by_their_words(file: File, told: set[int]) -> list[Finding]:
    """`kwargs = {"schedule_interval": …}`, `partial(DAG, schedule_interval=…)`, `TRIGGER = "none_failed_or_skipped"`: by hand."""
    found = []
    likely = _likely_for_airflow(file)
    for place in file.places:
        node = place.node
        if id(node) in told:
            continue
        is_likely = id(place.parent) in likely
        if isinstance(node, ast.keyword) and node.arg in _ALL_WORDS and (is_likely or node.arg in _TELLING):
            found.append(_by_hand(node, f"{node.arg}=", _ALL_WORDS[node.arg], "="))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            is_key = (isinstance(place.parent, ast.Dict) and node in place.parent.keys) or (
                isinstance(place.parent, ast.Subscript) and node is place.parent.slice
            )
            is_rule = node.value == "none_failed_or_skipped" or (node.value in OLD_TRIGGER_RULES and _is_rule(place))
            if is_key and node.value in _ALL_WORDS and (is_likely or node.value in _TELLING):
                found.append(_by_hand(node, f'"{node.value}"', _ALL_WORDS[node.value], ""))
            elif is_rule:
                found.append(_by_hand(node, f'"{node.value}"', OLD_TRIGGER_RULES[node.value], ""))
    return found


def _is_rule(place: Place) -> bool:
    """`trigger_rule="dummy"`, `{"trigger_rule": "dummy"}`."""
    parent = place.parent
    if isinstance(parent, ast.keyword):
        return parent.arg == "trigger_rule"
    pairs = zip(parent.keys, parent.values, strict=True) if isinstance(parent, ast.Dict) else ()
    return any(value is place.node and getattr(key, "value", None) == "trigger_rule" for key, value in pairs)


def _likely_for_airflow(file: File) -> set[int]:
    """Calls of what may be a DAG or an operator by another name, and dictionaries that become arguments of one."""
    functions = {
        place.node.name for place in file.places if isinstance(place.node, (ast.FunctionDef, ast.AsyncFunctionDef))
    } - file.bindings.keys()
    calls: list[ast.Call] = []
    names: set[str] = set()
    values: list[ast.expr] = []
    for place in file.places:
        node = place.node
        if not isinstance(node, ast.Call):
            continue
        path = file.present(node.func)
        is_airflows = path in _DAG_CALLS or is_task_path(path)
        if is_airflows or path == "functools.partial" or (path is None and _may_be_airflows(node.func, functions)):
            calls.append(node)
            for keyword in node.keywords:
                if keyword.arg in (None, "default_args"):
                    values.append(keyword.value)
    names = {value.id for value in values if isinstance(value, ast.Name)}
    for place in file.places:
        node = place.node
        if isinstance(node, ast.Assign) and any(
            isinstance(each, ast.Name) and each.id in names for each in node.targets
        ):
            values.append(node.value)
        elif (isinstance(node, ast.For) and isinstance(node.target, ast.Name) and node.target.id in names) or (
            isinstance(node, ast.For) and isinstance(node.target, ast.Tuple) and _fills(node, names)
        ):
            values.append(node.iter)
    inside = (each for value in values for each in ast.walk(value) if isinstance(each, (ast.Dict, ast.Call)))
    return {id(node) for node in (*calls, *inside)}


def _may_be_airflows(function: ast.expr, functions: set[str]) -> bool:
    if isinstance(function, ast.Name):
        return function.id not in functions
    if isinstance(function, ast.Attribute):
        return function.attr in ("override", "partial")
    return True


def _fills(loop: ast.For, names: set[str]) -> bool:
    """`for key, value in {…}.items(): kwargs[key] = value`"""
    return any(
        isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in names
        for statement in loop.body
        for node in ast.walk(statement)
    )


def _by_hand(node, old: str, new: str | None, after: str) -> Finding:
    if new is None:
        return Finding(REMOVED, node, old=old, instead=f"{_DROPPED}; {_UNKNOWN}")
    return Finding(OLD, node, old=old, new=f"{new}{after}", by_hand=_UNKNOWN)


def _keyword(file: File, place: Place, call: ast.Call, keyword: ast.keyword, new: str | None) -> Finding:
    old = f"{keyword.arg}="
    if not file.has_position(place):
        return Finding(OLD, keyword, old=old, new=f"{new}=" if new else "", by_hand="it is in an f-string")
    start, end = file.source.span(keyword)
    if new is None:
        return Finding(REMOVED, keyword, old=old, instead=_DROPPED, edits=[Edit(*file.source.without(start, end), "")])
    if any(other.arg == new for other in call.keywords):
        return Finding(OLD, keyword, old=old, new=f"{new}=", by_hand=f"{new}= is given as well: remove one of them")
    return Finding(OLD, keyword, old=old, new=f"{new}=", edits=[Edit(start, start + len(keyword.arg or ""), new)])


def _method(file: File, place: Place, node: ast.Attribute, new: str) -> Finding:
    end = file.source.span(node)[1]
    is_safe = file.has_position(place)
    edits = [Edit(end - len(node.attr), end, new)] if is_safe else None
    return Finding(OLD, node, old=f".{node.attr}()", new=f".{new}()", edits=edits, by_hand="it is in an f-string")


def _trigger_rule(file: File, node: ast.expr) -> list[Finding]:
    if isinstance(node, ast.Constant) and node.value in OLD_TRIGGER_RULES:
        new = OLD_TRIGGER_RULES[node.value]
        text = file.source.of(node)
        edits = [Edit(*file.source.span(node), text.replace(node.value, new))]
        return [Finding(OLD, node, old=f'trigger_rule="{node.value}"', new=f'"{new}"', edits=edits)]
    return []


def _default_args(file: File, node: ast.Dict, told: set[int]) -> list[Finding]:
    found = []
    told.update(id(key) for key in node.keys)
    keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            continue
        name = key.value
        start, end = file.source.span(key)[0], file.source.span(value)[1]
        if name in _BY_HAND:
            found.append(Finding(REMOVED, key, old=f'default_args["{name}"]', instead=_BY_HAND[name]))
        elif name == "trigger_rule":
            told.add(id(value))
            found += _trigger_rule(file, value)
        elif name in _TASK and (new := _TASK[name]) is None:
            edits = [Edit(*file.source.without(start, end), "")]
            found.append(Finding(REMOVED, key, old=f'default_args["{name}"]', instead=_DROPPED, edits=edits))
        elif name in _TASK and new is not None:
            text = file.source.of(key).replace(name, new)
            renaming = None if new in keys else [Edit(*file.source.span(key), text)]
            found.append(
                Finding(
                    OLD,
                    key,
                    old=f'default_args["{name}"]',
                    new=f'"{new}"',
                    edits=renaming,
                    by_hand=f"{new} is given too",
                )
            )
    return found
