"""The shape both sides are reduced to before they are compared: sorted, plain JSON, no defaults left out."""

from __future__ import annotations

import inspect

# Keys of a task in the normal form; both extractors fill exactly these.
TASK_KEYS = (
    "operator task_type operator_name ui_color ui_fgcolor template_fields upstream downstream trigger_rule owner retries "
    "retry_delay retry_exponential_backoff max_retry_delay start_date end_date depends_on_past "
    "ignore_first_depends_on_past wait_for_downstream wait_for_past_depends_before_skipping priority_weight "
    "priority_weight_total weight_rule queue pool pool_slots execution_timeout email email_on_failure email_on_retry run_as_user "
    "max_active_tis_per_dag max_active_tis_per_dagrun do_xcom_push multiple_outputs is_setup is_teardown "
    "on_failure_fail_dagrun mapped group label display_name docs callbacks params inlets outlets map_index_template"
).split()


def number(value):
    """1.0 and 1 are the same number in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def compare(path: str, ours, theirs, differences: list) -> None:
    """Collects (path, ours, theirs) for every leaf that differs."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted({*ours, *theirs}):
            compare(
                f"{path}.{key}" if path else key, ours.get(key, "<missing>"), theirs.get(key, "<missing>"), differences
            )
    elif ours != theirs and not (_is_doc(path) and _same_text(ours, theirs)):
        differences.append((path, ours, theirs))


def _is_doc(path: str) -> bool:
    return path.endswith((".doc_md", ".tooltip"))


def _same_text(ours, theirs) -> bool:
    """Python 3.13 removes the indentation of docstrings, older ones keep it."""
    return isinstance(ours, str) and isinstance(theirs, str) and inspect.cleandoc(ours) == inspect.cleandoc(theirs)
