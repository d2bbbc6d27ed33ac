"""Whole runs, by dag.test()."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pendulum
import pytest

ROOT = Path(__file__).resolve().parent.parent


def states(run) -> dict:
    return {(ti.task_id, ti.map_index): str(ti.state) for ti in run.get_task_instances()}


def test_run_of_taskflow(dag_bag):
    run = dag_bag.get_dag("orders").test(
        logical_date=pendulum.datetime(2026, 3, 2, tz="UTC"), run_conf={"limit": 2}
    )
    assert run.state == "success"
    assert states(run) == {
        ("extract", -1): "success",
        ("convert", 0): "success",
        ("convert", 1): "success",
        ("total", -1): "success",
        ("report", -1): "success",
    }


def test_run_of_classic_operators(dag_bag):
    run = dag_bag.get_dag("reports").test()
    assert run.state == "success"
    found = states(run)
    assert found["full", -1] == "skipped"
    assert found["short", -1] == found["end", -1] == "success"


@pytest.mark.parametrize("limit,state", [(1, "success"), (60, "failed")])
def test_end_of_the_run(dag_bag, limit, state):
    run = dag_bag.get_dag("orders").test(run_conf={"limit": limit}, mark_success_pattern="nothing")
    assert run.state == state
    assert states(run)["report", -1] == state


def test_refused_conf(dag_bag):
    with pytest.raises(Exception, match="Invalid input for param"):
        dag_bag.get_dag("orders").test(run_conf={"limit": "many"})


def test_tasks_that_do_not_run(dag_bag):
    run = dag_bag.get_dag("reports").test(mark_success_pattern="count|multiply|euros")
    assert run.state == "success"
    assert states(run)["count", -1] == "success"


@pytest.mark.currency("USD")
def test_values_of_a_run(dag_bag):
    run = dag_bag.get_dag("orders").test(run_conf={"limit": 2})
    ti = run.get_task_instance("report")
    assert ti is not None
    assert ti.state == "success"
    value = ti.xcom_pull(task_ids="report")
    assert (value["sum"], value["currency"]) == (3.0, "USD")


def test_variables_of_a_file(dag_bag, tmp_path, monkeypatch):
    monkeypatch.delenv("AIRFLOW_VAR_CURRENCY")
    (tmp_path / "variables.json").write_text('{"currency": "SEK"}')
    run = dag_bag.get_dag("orders").test(run_conf={"limit": 1}, variable_file_path=str(tmp_path / "variables.json"))
    assert run.get_task_instance("report").xcom_pull(task_ids="report")["currency"] == "SEK"


def test_the_file_itself_runs():
    path = os.pathsep.join([str(ROOT / "plugins"), os.environ.get("PYTHONPATH", "")])
    ended = subprocess.run(
        [sys.executable, str(ROOT / "dags/orders.py")],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    assert "extracting the orders of" in ended.stdout + ended.stderr
