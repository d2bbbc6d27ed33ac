"""What callbacks of tasks see of the instance that has just ended, as on Airflow."""

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


if __name__ == "__main__":
    unittest.main()
