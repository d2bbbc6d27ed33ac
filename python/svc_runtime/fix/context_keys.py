"""Context names that are gone in Airflow 3: in templates, in task functions, and on `dag_run`.

A template is text with `{{` or `{%` in it. In Python a name counts where it can only be the context: in `**kwargs` or `context` of
a function, in what get_current_context() gave, and as an argument of a function that runs as a task.
"""

from __future__ import annotations

import ast
import re

from .arguments import is_task_path
from .findings import GONE, OLD, Finding
from .places import FUNCTIONS, File, Place
from .source import Edit

_NEXT = "it meant the next run of the schedule; use data_interval_end, or compute it from logical_date"
_PREVIOUS = "it meant the run before in the schedule; use data_interval_start or prev_data_interval_start_success, or compute it from logical_date"

# In templates and in Python: the same value by another name.
RENAMED = {
    "execution_date": "logical_date",
    "prev_execution_date_success": "prev_data_interval_start_success",
    "triggering_dataset_events": "triggering_asset_events",
}
# In templates: an expression for it.
EXPRESSIONS = {
    "tomorrow_ds": "macros.ds_add(ds, 1)",
    "yesterday_ds": "macros.ds_add(ds, -1)",
    "tomorrow_ds_nodash": "((logical_date + macros.timedelta(days=1)) | ds_nodash)",
    "yesterday_ds_nodash": "((logical_date - macros.timedelta(days=1)) | ds_nodash)",
}
# Airflow 3 loads files that use them, and their tasks fail: told, not refused.
BY_HAND = {
    **dict.fromkeys(("next_execution_date", "next_ds", "next_ds_nodash"), _NEXT),
    **dict.fromkeys(("prev_execution_date", "prev_ds", "prev_ds_nodash"), _PREVIOUS),
}
_KEYS = {**RENAMED, **EXPRESSIONS, **BY_HAND}
_IN_PYTHON = {
    **dict.fromkeys(EXPRESSIONS, "compute it from logical_date"),
    **BY_HAND,
    "conf": "read the configuration with `from airflow.configuration import conf`",
}
_BLOCK = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_WORD = re.compile(r"(?<![\w.'\"\[])(" + "|".join(sorted(_KEYS, key=len, reverse=True)) + r")\b(?!\s*=[^=])")
_OF_RUN = re.compile(r"(?<![\w.])dag_run\.execution_date\b")
_OF_TASK = re.compile(r"(?<![\w.])(?:ti|task_instance)\.execution_date\b")
_CONTEXTS = {"context", "kwargs", "ctx", "ti_context"}
_RUNS = {"dag_run", "dagrun", "dag_run_obj"}
# Quick: most files have none of it.
MENTIONS = re.compile(r"execution_date|(?:next|prev|tomorrow|yesterday)_ds|triggering_dataset_events")


class TemplateChange:
    def __init__(self, start: int, end: int, old: str, new: str, by_hand: str = "") -> None:
        self.start, self.end, self.old, self.new, self.by_hand = start, end, old, new, by_hand


def template_changes(text: str) -> list[TemplateChange]:
    """In text that may be a Jinja template; positions are of the text."""
    found = []
    for block in _BLOCK.finditer(text):
        sets_own = re.search(r"\{%-?\s*(?:set|for)\b", block.group())
        for match in _WORD.finditer(block.group()):
            old = match.group(1)
            start = block.start() + match.start(1)
            if old in BY_HAND or sets_own:
                found.append(TemplateChange(start, start + len(old), old, "", BY_HAND.get(old, "the block sets names")))
            else:
                found.append(TemplateChange(start, start + len(old), old, RENAMED.get(old) or EXPRESSIONS[old]))
        for pattern, new in ((_OF_RUN, "dag_run.logical_date"), (_OF_TASK, "logical_date")):
            for match in pattern.finditer(block.group()):
                start = block.start() + match.start()
                found.append(TemplateChange(start, start + len(match.group()), match.group(), new))
    return found


def scan_context_keys(file: File) -> list[Finding]:
    if not MENTIONS.search(file.source.text):
        return []
    given = _given_names(file)
    found: list[Finding] = []
    tasks = _task_functions(file)
    docstrings = _docstrings(file)
    for place in file.places:
        node = place.node
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node not in docstrings and not isinstance(place.parent, ast.JoinedStr):
                found += _in_text(file, place, given)
        elif (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Constant)
            and _is_context(file, node.value, place)
        ):
            found += _key(file, place, node.slice, given, tasks)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("get", "pop")
            and node.args
        ):
            if isinstance(node.args[0], ast.Constant) and _is_context(file, node.func.value, place):
                found += _key(file, place, node.args[0], given, tasks)
        elif isinstance(node, ast.Attribute) and node.attr == "execution_date":
            found += _attribute(file, place, node)
        elif isinstance(node, FUNCTIONS) and not isinstance(node, ast.Lambda) and node.name in tasks:
            found += _parameters(file, node, given)
    return found


def _given_names(file: File) -> set[str]:
    """Names the file itself passes to functions or puts into op_kwargs and render(): not the context's there."""
    given: set = set()
    for place in file.places:
        node = place.node
        if isinstance(node, ast.Call):
            is_airflow = is_task_path(file.present(node.func))
            given.update(keyword.arg for keyword in node.keywords if keyword.arg in _KEYS and not is_airflow)
            for keyword in node.keywords:
                if keyword.arg in ("op_kwargs", "templates_dict", "params") and isinstance(keyword.value, ast.Dict):
                    given.update(key.value for key in keyword.value.keys if isinstance(key, ast.Constant))
        elif isinstance(node, ast.Dict) and isinstance(place.parent, ast.Assign):
            given.update(key.value for key in node.keys if isinstance(key, ast.Constant) and key.value in _KEYS)
    return {name for name in given if isinstance(name, str)}


def _docstrings(file: File) -> set:
    return {
        place.node.value
        for place in file.places
        if isinstance(place.node, ast.Expr) and isinstance(place.node.value, ast.Constant)
    }


def _in_text(file: File, place: Place, given: set[str]) -> list[Finding]:
    node = place.node
    if "{{" not in node.value and "{%" not in node.value:
        return []
    start = file.source.span(node)[0]
    found = []
    for change in template_changes(file.source.of(node)):
        old = f"{{{{ {change.old} }}}}"
        by_hand = change.by_hand or ("the file gives this name a value of its own" if change.old in given else "")
        if place.fstring:
            by_hand = by_hand or "it is in an f-string"
        edits = None if by_hand else [Edit(start + change.start, start + change.end, change.new)]
        if change.old in BY_HAND and change.old not in given:
            finding = Finding(GONE, node, old=old, instead=change.by_hand, refuses=False)
        else:
            finding = Finding(OLD, node, old=old, new=change.new, edits=edits, by_hand=by_hand)
        finding.line += file.source.of(node)[: change.start].count("\n")
        found.append(finding)
    return found


def _is_context(file: File, node: ast.expr, place: Place) -> bool:
    if isinstance(node, ast.Call):
        return file.present(node.func) == "airflow.sdk.get_current_context"
    if not isinstance(node, ast.Name):
        return False
    function = place.function
    if function is not None:
        arguments = function.args
        if arguments.kwarg is not None and arguments.kwarg.arg == node.id:
            return True
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        if node.id in _CONTEXTS and any(argument.arg == node.id for argument in named):
            return True
    return any(
        isinstance(other.node, ast.Assign)
        and other.function is function
        and any(isinstance(target, ast.Name) and target.id == node.id for target in other.node.targets)
        and isinstance(other.node.value, ast.Call)
        and file.present(other.node.value.func) == "airflow.sdk.get_current_context"
        for other in file.places
    )


def _key(file: File, place: Place, key: ast.Constant, given: set[str], tasks: set[str]) -> list[Finding]:
    old = key.value
    if (old not in RENAMED and old not in _IN_PYTHON) or (old == "conf" and "dag_run" in ast.unparse(place.node)):
        return []
    if old in BY_HAND and old not in given and getattr(place.function, "name", "") in {*tasks, "execute"}:
        return [Finding(GONE, key, old=f'context["{old}"]', instead=BY_HAND[old], refuses=False)]
    if old not in RENAMED:
        return [Finding(OLD, key, old=f'context["{old}"]', by_hand=_IN_PYTHON[old])]
    new = RENAMED[old]
    by_hand = "the file gives this name a value of its own" if old in given else ""
    if not file.has_position(
        Place(key, place.node, guarded=False, annotation=False, fstring=place.fstring, function=None)
    ):
        by_hand = by_hand or "it is in an f-string"
    text = file.source.of(key)
    edits = None if by_hand else [Edit(*file.source.span(key), text.replace(old, new))]
    return [Finding(OLD, key, old=f'context["{old}"]', new=f'context["{new}"]', edits=edits, by_hand=by_hand)]


def _attribute(file: File, place: Place, node: ast.Attribute) -> list[Finding]:
    """`dag_run.execution_date`, `context["dag_run"].execution_date`; a task instance has no such date any more."""
    value = node.value
    name: object = None
    if isinstance(value, ast.Name):
        name = value.id
    elif isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
        name = value.slice.value
    elif isinstance(value, ast.Attribute) and value.attr == "dag_run":
        name = "dag_run"
    if name in ("ti", "task_instance"):
        return [
            Finding(OLD, node, old=f"{name}.execution_date", by_hand="use logical_date of the context, or of dag_run")
        ]
    if name not in _RUNS:
        return []
    end = file.source.span(node)[1]
    is_safe = file.has_position(place)
    edits = [Edit(end - len(node.attr), end, "logical_date")] if is_safe else None
    return [
        Finding(
            OLD,
            node,
            old="dag_run.execution_date",
            new="dag_run.logical_date",
            edits=edits,
            by_hand="it is in an f-string",
        )
    ]


def _task_functions(file: File) -> set[str]:
    """Names of functions that run as tasks or callbacks: decorated, or given to an operator."""
    names = set()
    for place in file.places:
        node = place.node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            decorators = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
            if any(is_task_path(file.present(item)) for item in decorators):
                names.add(node.name)
        elif isinstance(node, ast.keyword) and node.arg == "python_callable" and isinstance(node.value, ast.Name):
            names.add(node.value.id)
    return names


def _parameters(file: File, node: ast.FunctionDef | ast.AsyncFunctionDef, given: set[str]) -> list[Finding]:
    found = []
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    for argument in arguments:
        old = argument.arg
        if (old not in RENAMED and old not in _IN_PYTHON) or old == "conf":
            continue
        label = f"argument {old} of {node.name}()"
        if old in BY_HAND and old not in given:
            found.append(Finding(GONE, argument, old=label, instead=BY_HAND[old], refuses=False))
            continue
        if old not in RENAMED:
            found.append(Finding(OLD, argument, old=label, by_hand=_IN_PYTHON[old]))
            continue
        edits = None if old in given else _renamed(file, node, argument, RENAMED[old])
        why = "the name is used in a way that only you can change"
        found.append(Finding(OLD, argument, old=label, new=RENAMED[old], edits=edits, by_hand=why))
    return found


def _renamed(file: File, function, argument: ast.arg, new: str) -> list[Edit] | None:
    """The argument and all its uses in the function; None when another scope in it could mean another thing."""
    old = argument.arg
    start = file.source.span(argument)[0]
    edits = [Edit(start, start + len(old), new)]
    inner = [place for place in file.places if place.node is not function and _is_inside(file, place, function)]
    for place in inner:
        node = place.node
        if isinstance(node, ast.Name) and node.id == new:
            return None
        if isinstance(node, ast.arg) and node is not argument and node.arg in (old, new):
            return None
        if isinstance(node, (ast.Global, ast.Nonlocal)) and old in node.names:
            return None
        if isinstance(node, ast.Name) and node.id == old:
            if not file.has_position(place):
                return None
            edits.append(Edit(*file.source.span(node), new))
    return edits


def _is_inside(file: File, place: Place, function) -> bool:
    node = place.node
    if not hasattr(node, "lineno"):
        return False
    start, end = file.source.span(function)
    first, last = file.source.span(node)
    return start <= first and last <= end
