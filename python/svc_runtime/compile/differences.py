"""Notes what a file, its settings and its folder ask for that works differently here than on Airflow.

Only what a compiled spec does not show is noted here. The words for each note, and the differences that a spec shows, are in
the one table: packages/compiler/differences/table.ts.
"""

from __future__ import annotations

import ast
import re

from ..record import current

# What Airflow 3.3 puts into the context of a task, and svc does not.
_CONTEXT_KEYS = frozenset({"partition_date"})
_MENTIONS_KEY = re.compile(r"\b(?:" + "|".join(sorted(_CONTEXT_KEYS)) + r")\b")
_TEMPLATE_KEY = re.compile(r"\{[{%][^{}]*\b(" + "|".join(sorted(_CONTEXT_KEYS)) + r")\b")
_STATS = re.compile(r"^\s*(?:from|import)\s+airflow\.(?:sdk\.)?(?:observability\.)?stats\b", re.MULTILINE)

# Settings of Airflow without an effect here, by the row of the table that says what to do instead.
_SETTINGS = {
    "metrics": (("metrics", "statsd_on"), ("metrics", "statsd_datadog_enabled"), ("metrics", "otel_on")),
    "xcom-backend": (("core", "xcom_backend"),),
    "secrets-backend": (("secrets", "backend"), ("workers", "secrets_backend")),
    "log-settings": (("logging", "remote_logging"), ("logging", "logging_config_class")),
    "state-store": (
        ("state_store", "backend"),
        ("state_store", "clear_on_success"),
        ("state_store", "default_retention_days"),
        ("state_store", "max_value_storage_bytes"),
        ("workers", "state_store_backend"),
    ),
    "settings": (
        ("core", "dags_are_paused_at_creation"),
        ("core", "default_pool_task_slot_count"),
        ("core", "default_task_execution_timeout"),
        ("core", "default_task_retries"),
        ("core", "default_task_retry_delay"),
        ("core", "default_task_weight_rule"),
        ("core", "default_timezone"),
        ("core", "max_active_runs_per_dag"),
        ("core", "max_active_tasks_per_dag"),
        ("core", "max_consecutive_failed_dag_runs_per_dag"),
        ("core", "max_map_length"),
        ("core", "parallelism"),
        ("email", "default_email_on_failure"),
        ("email", "default_email_on_retry"),
        ("operators", "default_owner"),
        ("operators", "default_queue"),
        ("scheduler", "catchup_by_default"),
        ("scheduler", "create_cron_data_intervals"),
        ("scheduler", "create_delta_data_intervals"),
    ),
}
# Old spellings of what is the default.
_DEFAULT_CLASS = re.compile(r"\.(?:BaseXCom|LocalFilesystemBackend)$")


def note_differences(text: str, tree: ast.Module, shown: str) -> None:
    if _MENTIONS_KEY.search(text):
        _note_context_keys(tree, shown)
    found = _STATS.search(text)
    if found:
        line = text.count("\n", 0, found.end()) + 1
        current.differ("metrics", "Stats", f"{shown}:{line}")
    _note_settings()


def _note_context_keys(tree: ast.Module, shown: str) -> None:
    nodes = list(ast.walk(tree))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    given = {keyword.arg for call in calls for keyword in call.keywords}
    called = {
        keyword.value.id
        for call in calls
        for keyword in call.keywords
        if keyword.arg == "python_callable" and isinstance(keyword.value, ast.Name)
    }

    def note(key, line: int) -> None:
        if key in _CONTEXT_KEYS:
            current.differ("context-keys", key, f"{shown}:{line}")

    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.name in called or any(_is_task(decorator) for decorator in node.decorator_list):
                for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                    if argument.arg not in given:
                        note(argument.arg, argument.lineno)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            note(node.slice.value, node.lineno)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            for first in node.args[:1]:
                note(getattr(first, "value", None), node.lineno)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            for found in _TEMPLATE_KEY.findall(node.value):
                note(found, node.lineno)


def _is_task(decorator: ast.expr) -> bool:
    """`@task`, `@task(…)`, `@task.bash`, `@dag.task`."""
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    names = []
    while isinstance(decorator, ast.Attribute):
        names.append(decorator.attr)
        decorator = decorator.value
    return "task" in names or (isinstance(decorator, ast.Name) and decorator.id == "task")


def _note_settings() -> None:
    from ..run.conf import settings_of_repository
    from ..run.conf_defaults import DEFAULTS

    said = settings_of_repository()
    for row, settings in _SETTINGS.items():
        for section, key in settings:
            value = said.get(section, {}).get(key, "").strip()
            default = DEFAULTS.get(section, {}).get(key, "false")
            if value and value.lower() != default.lower() and not _DEFAULT_CLASS.search(value):
                current.differ(row, f"[{section}] {key}")
