"""What bodies and callbacks of tasks see of their instance, as on Airflow."""

from __future__ import annotations

import textwrap
import unittest

from .run_agent import Agent

TEXT = textwrap.dedent(
    """
    from airflow.sdk import DAG, task

    def sees(context):
        ti = context["ti"]
        seconds = (ti.end_date - ti.start_date).total_seconds()
        print("sees", ti.xcom_pull(task_ids=ti.task_id), ti.xcom_pull(), ti.xcom_pull(task_ids=ti.task_id, key="a"), seconds >= 0)
        print("indexed", ti.xcom_pull(task_ids=ti.task_id, map_indexes=ti.map_index), dict(context["task"].params))

    with DAG("d", schedule=None, params={"x": 1, "y": 2}, default_args={
        "on_success_callback": sees, "on_failure_callback": sees, "on_skipped_callback": sees,
    }):
        @task(multiple_outputs=True, params={"y": 3})
        def returns():
            return {"a": 1}

        returns()

        @task
        def fails(ti=None):
            ti.xcom_push("a", 5)
            raise ValueError("as planned")

        fails()

        @task
        def mapped(n):
            return n

        mapped.expand(n=[1, 2])

        @task(owner="ada", email=["a@b.example", "c@d.example"], on_success_callback=None)
        def variables():
            import os, subprocess
            seen = {k.removeprefix("AIRFLOW_CTX_"): v for k, v in os.environ.items() if k.startswith("AIRFLOW_CTX_")}
            return [seen, subprocess.run("echo $AIRFLOW_CTX_DAG_ID", shell=True, capture_output=True, text=True).stdout]

        variables()

        @task(map_index_template="item {{ task.op_kwargs['n'] }}", on_success_callback=None)
        def named(n, ti=None):
            return ti.rendered_map_index

        named.expand(n=[1, 2])
    """
)


class SeenByCallbacks(unittest.TestCase):
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        cls.agent = Agent.ready(TEXT)
        cls.addClassCleanup(cls.agent.close)

    def seen(self, task_id: str, **options) -> list:
        attempt = self.agent.run(task_id, **options)
        return [event for event in attempt.events() if event.startswith(("sees ", "indexed "))]

    def test_the_values_that_it_returned_are_pulled_without_a_question_and_it_has_an_end(self) -> None:
        # The agent of this test refuses every question, so none was asked.
        self.assertEqual(self.seen("returns"), ["sees {'a': 1} {'a': 1} 1 True", "indexed {'a': 1} {'x': 1, 'y': 3}"])

    def test_a_failed_one_has_what_it_pushed_and_no_return_value(self) -> None:
        answers: dict = {"set_xcom": lambda **_: None, "get_xcom": lambda **_: []}
        self.assertEqual(
            self.seen("fails", answers=answers), ["sees None None 5 True", "indexed None {'x': 1, 'y': 2}"]
        )

    def test_a_mapped_one_sees_the_values_of_the_other_instances_too(self) -> None:
        others = [{"task_id": "mapped", "map_index": 0, "key": "return_value", "value": 1}]
        answers: dict = {
            "get_xcom": lambda key, map_index, **_: others if key == "return_value" and map_index is None else []
        }
        found = self.seen("mapped", map_index=1, answers=answers)
        self.assertEqual(found, ["sees [1, 2] [1, 2] None True", "indexed 2 {'x': 1, 'y': 2}"])


class SeenByBodies(unittest.TestCase):
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        cls.agent = Agent.ready(TEXT)
        cls.addClassCleanup(cls.agent.close)

    def test_the_environment_names_the_instance_also_for_programs_that_a_function_starts(self) -> None:
        seen, said = self.agent.run("variables", try_number=2).value()
        expected = {
            "DAG_EMAIL": "a@b.example,c@d.example",
            "DAG_OWNER": "ada",
            "DAG_ID": "d",
            "TASK_ID": "variables",
            "LOGICAL_DATE": "2024-05-01T10:20:30+00:00",
            "TRY_NUMBER": "2",
            "DAG_RUN_ID": "manual__1",
        }
        self.assertEqual((seen, said), (expected, "d\n"))
        undated, _ = self.agent.run("variables", run={"logical_date": None}).value()
        self.assertNotIn("LOGICAL_DATE", undated)

    def test_a_mapped_instance_knows_the_name_that_its_template_gives_it(self) -> None:
        self.assertEqual(self.agent.run("named", map_index=0).value(), "item 1")


if __name__ == "__main__":
    unittest.main()
