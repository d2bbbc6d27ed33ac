"""Snapshots of DAGs: what a DAG compiles to, in a file next to the test, so that a change is seen in the review."""

from __future__ import annotations

import difflib
import json
import os

from ..dag_test.local_run import spec_of
from . import recorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..record.dag import DAG

_FOLDER = "__snapshots__"
# What says nothing about the behaviour of the DAG, or differs from machine to machine.
_LEFT_OUT = {"source", "schema_version", "ui_color", "ui_fgcolor", "module", "tooltip"}
_UPDATE = "pytest --update-dag-snapshots"


def assert_dag_matches_snapshot(dag: DAG, path: str | os.PathLike | None = None) -> None:
    """Compares the DAG with the file `__snapshots__/<test file>.<dag id>.json` next to the test, or with `path`.

    `pytest --update-dag-snapshots` writes the files.
    """
    file = _default_file(dag) if path is None else os.fspath(path)
    text = snapshot_of(dag)
    known = _read(file)
    if known == text:
        return
    shown = os.path.relpath(file)
    if recorder.updates_snapshots:
        _write(file, text)
    elif known is None:
        raise AssertionError(f"the DAG {dag.dag_id} has no snapshot {shown}. Write it with: {_UPDATE}")
    else:
        lines = difflib.unified_diff(known.splitlines(), text.splitlines(), shown, f"DAG {dag.dag_id}", lineterm="")
        raise AssertionError(
            f"the DAG {dag.dag_id} differs from its snapshot. If that is meant, write it again with: {_UPDATE}\n"
            + "\n".join(lines)
        )


def snapshot_of(dag: DAG) -> str:
    text = json.dumps(_plain(spec_of(dag)), indent=2, sort_keys=True, ensure_ascii=False)
    folder = os.path.dirname(dag.fileloc)
    return (text.replace(folder, "<folder>") if len(folder) > 1 else text) + "\n"


def _plain(value):
    """Without what is empty, so that a later release may add settings."""
    if isinstance(value, dict):
        pairs = {name: _plain(one) for name, one in value.items() if name not in _LEFT_OUT}
        return {name: one for name, one in pairs.items() if one not in (None, [], {}, "")}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value


def _default_file(dag: DAG) -> str:
    if recorder.test_file is None:
        raise RuntimeError("assert_dag_matches_snapshot() was called outside of a test of pytest. Pass `path`")
    folder, name = os.path.split(recorder.test_file)
    return os.path.join(folder, _FOLDER, f"{os.path.splitext(name)[0]}.{dag.dag_id}.json")


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _write(path: str, text: str) -> None:
    """In one step, because tests may run in parallel."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    unfinished = f"{path}.{os.getpid()}"
    with open(unfinished, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(unfinished, path)
