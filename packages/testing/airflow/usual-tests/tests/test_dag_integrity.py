"""Every file loads, and every DAG keeps the rules of the team."""

from __future__ import annotations

import glob
import importlib.util
import os
from pathlib import Path

import pytest

from airflow.models import DagBag
from airflow.sdk import DAG

DAGS = Path(__file__).resolve().parent.parent / "dags"
FILES = sorted(glob.glob(str(DAGS / "**" / "*.py"), recursive=True))


def bag() -> DagBag:
    return DagBag(dag_folder=str(DAGS), include_examples=False)


def import_errors():
    """A first pair without an error, so that the test is there when nothing is wrong."""
    return [(None, None)] + [
        (os.path.relpath(path, DAGS), text.strip()) for path, text in bag().import_errors.items()
    ]


def all_dags():
    return [(dag_id, dag, os.path.relpath(dag.fileloc, DAGS)) for dag_id, dag in bag().dags.items()]


@pytest.mark.parametrize("path,text", import_errors(), ids=[str(path) for path, _ in import_errors()])
def test_file_imports(path, text):
    if path and text:
        raise AssertionError(f"{path} failed to import with message\n{text}")


@pytest.mark.parametrize("dag_id,dag,fileloc", all_dags(), ids=[one[2] for one in all_dags()])
def test_dag_has_tags_and_an_owner(dag_id, dag, fileloc):
    assert dag.tags, f"{dag_id} in {fileloc} has no tags"
    assert dag.default_args["owner"] == "shop"


@pytest.mark.parametrize("dag_id,dag,fileloc", all_dags(), ids=[one[2] for one in all_dags()])
def test_dag_retries(dag_id, dag, fileloc):
    assert dag.default_args.get("retries") in (1, 2)
    assert all(task.retries >= 1 for task in dag.tasks)


@pytest.mark.parametrize("path", FILES, ids=[os.path.basename(path) for path in FILES])
def test_module_defines_a_dag(path):
    spec = importlib.util.spec_from_file_location(f"dags_{os.path.basename(path)[:-3]}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert any(isinstance(value, DAG) for value in vars(module).values())


@pytest.mark.parametrize("path", FILES, ids=[os.path.basename(path) for path in FILES])
def test_file_loads_alone(path):
    found = DagBag(dag_folder=path, include_examples=False)
    assert found.import_errors == {}
    assert len(found.dags) == 1
    assert found.size() == 1


def test_a_broken_file_is_an_import_error(tmp_path):
    (tmp_path / "broken.py").write_text("from airflow.sdk import DAG\nDAG(nothing)\n")
    found = DagBag(dag_folder=str(tmp_path), include_examples=False)
    assert found.dags == {}
    [text] = found.import_errors.values()
    assert "NameError: name 'nothing' is not defined" in text
