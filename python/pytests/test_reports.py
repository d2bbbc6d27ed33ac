"""What pytest prints of failed tests, snapshots, and what tests leave behind."""

from __future__ import annotations

import json
import os

import pytest

from airflow.sdk import dag, task
from svc.testing import assert_dag_matches_snapshot
from svc_runtime.testing import recorder

DAGS = """
from airflow.sdk import dag, task

def made(tags=()):
    @dag(schedule="@daily", tags=list(tags))
    def sales():
        @task
        def extract():
            print("asked the shop")
            return None

        @task
        def load(rows):
            return rows["amount"]  # broken here

        load(extract())

    return sales()
"""


@pytest.fixture
def project(pytester):
    pytester.makepyfile(dags=DAGS)
    return pytester


def run(project, *arguments):
    return project.runpytest_subprocess("-p", "no:cacheprovider", *arguments)


def test_a_failed_test_prints_the_line_and_the_log_of_the_task(project):
    project.makepyfile(
        test_sales="""
        from dags import made

        def test_sales(run_dag):
            assert run_dag(made()).task("load").succeeded
        """
    )
    result = run(project)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*assert False",
            "E*<task load: failed, TypeError: 'NoneType' object is not subscriptable, at dags.py:*>.succeeded",
            "*task load of sales failed at dags.py:*",
            '> return rows[[]"amount"]  # broken here',
            "*Task failed with exception",
            "TypeError: 'NoneType' object is not subscriptable",
        ]
    )
    assert "svc_runtime/run/attempt.py" not in result.stdout.str()


def sales(tags):
    @dag(schedule="@daily", tags=tags)
    def sales():
        @task
        def extract(): ...

        extract()

    return sales()


def test_a_snapshot_shows_what_changed_and_how_to_write_it(tmp_path, monkeypatch):
    place = tmp_path / "sales.json"
    with pytest.raises(AssertionError, match=r"has no snapshot .*sales\.json\. Write it with: pytest --update-dag-sn"):
        assert_dag_matches_snapshot(sales(["old"]), place)
    monkeypatch.setattr(recorder, "updates_snapshots", True)
    assert_dag_matches_snapshot(sales(["old"]), place)
    monkeypatch.setattr(recorder, "updates_snapshots", False)
    assert_dag_matches_snapshot(sales(["old"]), place)
    with pytest.raises(AssertionError, match="differs from its snapshot") as differs:
        assert_dag_matches_snapshot(sales(["new"]), place)
    assert '-      "old"' in str(differs.value)
    assert '+      "new"' in str(differs.value)


def test_snapshots_are_next_to_the_test_and_the_same_in_every_folder(project):
    project.makepyfile(
        test_spec="""
        from dags import made

        def test_spec(dag_snapshot):
            dag_snapshot(made())
        """
    )
    run(project, "--update-dag-snapshots").assert_outcomes(passed=1)
    text = (project.path / "__snapshots__" / "test_spec.sales.json").read_text()
    assert json.loads(text)["schedule"]["expression"] == "@daily"
    assert str(project.path) not in text


def test_parallel_tests_leave_no_file_and_no_process(project, monkeypatch):
    project.makepyfile(
        test_many="""
        import os, time
        import pytest
        from airflow.sdk import dag, task
        from svc_runtime.dag_test import engine

        @pytest.mark.parametrize("number", range(6))
        def test_number(run_dag, clock, number):
            @dag(schedule=None)
            def one():
                @task(retries=1)
                def work(ti=None):
                    if ti.try_number == 1:
                        raise ValueError("again")
                    return number
                work()
            clock.move_to("2030-01-01")
            assert run_dag(one()).task("work").xcom == number
            with open("processes", "a") as file:
                file.write(f"{engine.engine()._process.pid}\\n")
        """
    )
    temporary = project.mkdir("temporary")
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    result = run(project, "-n", "2")
    result.assert_outcomes(passed=6)
    lines = (project.path / "processes").read_text().split()
    assert len(set(lines)) == 2
    for pid in lines:
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)
    assert os.listdir(temporary) == []
    of_pytester = ("runpytest-", "stdout", "stderr", "temporary", "__pycache__")
    left = {name for name in os.listdir(project.path) if not name.startswith(of_pytester)}
    assert left == {"dags.py", "test_many.py", "processes"}


def test_a_pytest_without_dags_does_not_pay_for_the_plugin(project):
    project.makepyfile(
        test_other="""
        import sys

        def test_nothing():
            assert "airflow" not in sys.modules
            assert "svc_runtime.testing.run" not in sys.modules
        """
    )
    run(project).assert_outcomes(passed=1)


def test_a_clock_that_cannot_move_says_what_to_install(project):
    project.makepyfile(
        test_clock="""
        import sys
        import pytest

        def test_moved(clock, monkeypatch):
            monkeypatch.setitem(sys.modules, "time_machine", None)
            with pytest.raises(RuntimeError, match=r"pip install 'svc-airflow\\[test\\]'"):
                clock.move_to("2030-01-01")
        """
    )
    run(project).assert_outcomes(passed=1)
