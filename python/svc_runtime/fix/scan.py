"""Everything there is to say about one file."""

from __future__ import annotations

import ast
import re

from .arguments import WORDS, scan_arguments
from .calls import scan_calls
from .context_keys import scan_context_keys
from .findings import Finding
from .gone import scan_gone
from .imports import scan_imports
from .places import File
from .source import Source

# Files without any of these have nothing to tell. Looking takes 0.02 ms; walking the tree of a usual file takes 2.
_SUSPECT = re.compile(
    r"\bairflow\.(?!sdk\b|providers\b|exceptions\b|configuration\b)\w|\bfrom airflow import (?!DAG\s*$)|\bimport airflow\b"
    r"|SimpleHttpOperator|kubernetes_pod|(?:Postgres|MySql|Sqlite|MsSql|Snowflake|Jdbc)Operator"
    r"|execution_date|(?:next|prev|tomorrow|yesterday)_ds|triggering_dataset_events",
    re.MULTILINE,
)
_OLD_WORDS = re.compile("|".join(map(re.escape, WORDS)))


def may_be_old(text: str) -> bool:
    """Without walking through the file: what is not suspect has no old spelling."""
    return _SUSPECT.search(text) is not None or ("airflow" in text and _OLD_WORDS.search(text) is not None)


def scan(source: Source, exported: frozenset[str] | None = frozenset()) -> list[Finding]:
    """In the order of the file."""
    if "airflow" not in source.text:
        return []
    file = File(source, exported)
    found = [*scan_imports(file), *scan_gone(file), *scan_arguments(file), *scan_calls(file), *scan_context_keys(file)]
    return sorted(found, key=lambda finding: (finding.line, finding.column))


def scan_for_compile(text: str, tree: ast.Module) -> list[Finding]:
    """What the file cannot show while it runs: its imports, templates and uses inside tasks. Arguments tell themselves."""
    if not _SUSPECT.search(text):
        return []
    file = File(Source(text, tree))
    found = [*scan_imports(file), *scan_gone(file), *scan_calls(file), *scan_context_keys(file)]
    return sorted(found, key=lambda finding: (finding.line, finding.column))
