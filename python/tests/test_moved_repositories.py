"""Files of repositories that were written for other versions of Airflow. Edges are those that Airflow 3.2.2 makes."""

from __future__ import annotations

import textwrap
import unittest

from svc_runtime.fix.rewrite import rewrite_python

from .support import compile_text

HEAD = """
from airflow.sdk import DAG, TaskGroup, setup, task, teardown
from airflow.providers.standard.operators.bash import BashOperator

@setup
def s(): ...
@teardown
def t(): ...
@setup
def gs(): ...
@teardown
def gt(): ...
@task
def w(): ...
"""


def loaded(text: str) -> dict:
    answer = compile_text(HEAD + textwrap.dedent(text))
    assert answer["ok"], answer["error"]
    return answer


def edges(text: str) -> dict:
    tasks = loaded(text)["dags"][0]["spec"]["tasks"]
    return {task["task_id"]: sorted(task["upstream_task_ids"]) for task in tasks}


class Scopes(unittest.TestCase):
    def test_a_group_with_its_own_setup_and_teardown_hangs_on_the_scope_by_its_work(self) -> None:
        found = edges("""
            with DAG("a"):
                with s() >> t():
                    with TaskGroup("g"):
                        gs() >> w() >> gt()
        """)
        self.assertEqual(found, {"s": [], "t": ["g.w", "s"], "g.gs": [], "g.w": ["g.gs", "s"], "g.gt": ["g.w"]})

    def test_a_task_with_links_of_its_own_is_linked_to_the_scope_only_if_all_tasks_have_some(self) -> None:
        found = edges("""
            with DAG("a"):
                before = w.override(task_id="before")()
                with s() >> t():
                    one, two = w.override(task_id="one")(), w.override(task_id="two")()
                    before >> one
        """)
        self.assertEqual((found["one"], found["two"], found["t"]), (["before"], ["s"], ["one", "s", "two"]))
        found = edges("""
            with DAG("a"):
                with s() >> t():
                    one, two = w.override(task_id="one")(), w.override(task_id="two")()
                    gs() >> [one, two] >> gt()
        """)
        self.assertEqual((found["one"], found["two"], found["t"]), (["gs", "s"], ["gs"], ["s", "two"]))

    def test_a_group_with_a_scope_of_its_own_hangs_on_the_outer_scope_by_its_ends(self) -> None:
        found = edges("""
            with DAG("a"):
                with s() >> t():
                    with TaskGroup("g"):
                        with gs() >> gt():
                            w()
        """)
        self.assertEqual(found, {"s": [], "t": ["g.gt", "s"], "g.gs": ["s"], "g.gt": ["g.gs", "g.w"], "g.w": ["g.gs"]})

    def test_a_task_that_is_added_to_a_scope_is_between_its_setup_and_teardown(self) -> None:
        found = edges("""
            with DAG("a"):
                with s() >> t() as scope:
                    scope.add_task(w())
        """)
        self.assertEqual(found, {"s": [], "t": ["s", "w"], "w": ["s"]})


class OldWords(unittest.TestCase):
    def test_macros_may_have_keys_of_several_types(self) -> None:
        spec = loaded("with DAG('a', user_defined_macros={'b': 1, 2: 3}): ...\n")["dags"][0]["spec"]
        self.assertEqual(spec["dag"]["user_defined_macros"], ["2", "b"])

    def test_old_trigger_rules_and_paths_below_airflow_load_with_a_warning(self) -> None:
        answer = loaded("""
            import airflow
            from airflow.models.dataset import Dataset
            with DAG("a", start_date=airflow.utils.dates.days_ago(1), schedule=[Dataset("s3://x")]):
                BashOperator(task_id="x", bash_command="y", trigger_rule="none_failed_or_skipped")
        """)
        (task,) = answer["dags"][0]["spec"]["tasks"]
        self.assertEqual(task["policy"]["trigger_rule"], "none_failed_min_one_success")
        said = "\n".join(answer["warnings"])
        for words in (
            "days_ago() is an old spelling",
            "Dataset is an old spelling",
            "'none_failed_or_skipped' is an old",
        ):
            self.assertIn(words, said)

    def test_one_text_instead_of_a_list_of_tags_is_one_tag_with_a_warning(self) -> None:
        answer = loaded("with DAG('a', tags='etl'): ...\n")
        self.assertEqual(answer["dags"][0]["spec"]["dag"]["tags"], ["etl"])
        self.assertIn("write tags=['etl']", "\n".join(answer["warnings"]))

    def test_folders_and_colours_that_files_take_from_airflow_are_there(self) -> None:
        answer = loaded("""
            import os
            from airflow import settings
            from airflow.settings import DAGS_FOLDER, PLUGINS_FOLDER
            from airflow.utils.state import State
            assert DAGS_FOLDER == settings.DAGS_FOLDER == os.path.dirname(__file__) and PLUGINS_FOLDER
            assert (State.color("failed"), State.color(State.SUCCESS), State.color_fg(None)) == ("red", "green", "black")
            with DAG("a"): BashOperator(task_id="x", bash_command="y")
        """)
        self.assertEqual(len(answer["dags"]), 1)

    def test_assets_of_two_containers_of_an_account_are_two_assets_and_no_password_is_kept(self) -> None:
        found = []
        for uri in ("abfs://raw@acct/x", "abfs://clean@acct/x", "mysql://u:p@h/d/t", "https://token@h/x"):
            answer = loaded(f"""
                from airflow.sdk import Asset
                with DAG("a", schedule=[Asset(name="n", uri="{uri}")]): ...
            """)
            found.append(answer["dags"][0]["spec"]["assets"]["assets"][0]["uri"])
        self.assertEqual(found, ["abfs://raw@acct/x", "abfs://clean@acct/x", "mysql://h/d/t", "https://h/x"])

    def test_parts_of_airflow_itself_are_refused_without_the_advice_to_install_them(self) -> None:
        for module in ("airflow.utils.dot_renderer", "airflow.triggers.testing", "airflow.no_such_part"):
            answer = compile_text(f"{HEAD}import {module}\nwith DAG('a'): ...\n")
            self.assertFalse(answer["ok"])
            self.assertNotIn("package that provides", answer["error"]["instead"])


class Fix(unittest.TestCase):
    def test_a_decorator_is_rewritten_though_its_name_is_used_again_below(self) -> None:
        text = "from airflow.decorators import dag\n\n@dag(schedule_interval=None)\ndef a(): ...\n\ndag = a()\n"
        after = rewrite_python(text, frozenset()).after
        self.assertIn("@dag(schedule=None)", after)

    def test_a_name_that_is_bound_again_before_its_use_is_left_alone(self) -> None:
        for again in ("dag = other\n", "def use(dag):\n    return dag(schedule_interval=None)\n"):
            text = f"from airflow.decorators import dag\n{again}dag(schedule_interval=None)\n"
            self.assertIn("dag(schedule_interval=None)\n", rewrite_python(text, frozenset()).after)


if __name__ == "__main__":
    unittest.main()
