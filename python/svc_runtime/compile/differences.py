"""Notes what a file, its settings and its folder ask for that works differently here than on Airflow.

Only what a compiled spec does not show is noted here. The words for each note, and the differences that a spec shows, are in
the one table: packages/compiler/differences/table.ts.
"""

from __future__ import annotations

import re

from ..record import current

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


def note_differences(text: str, shown: str) -> None:
    found = _STATS.search(text)
    if found:
        line = text.count("\n", 0, found.end()) + 1
        current.differ("metrics", "Stats", f"{shown}:{line}")
    _note_settings()


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
