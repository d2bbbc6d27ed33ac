"""Weight rules of authors: asked once, when the file is compiled."""

from __future__ import annotations

import os
import tempfile
import unittest

from .support import compile_path, compile_text

HEAD = (
    "from airflow.sdk import DAG, task\nfrom airflow.providers.standard.operators.empty import EmptyOperator\n"
    "from airflow.task.priority_strategy import PriorityWeightStrategy\n"
    "class Decreasing(PriorityWeightStrategy):\n    def get_weight(self, ti):\n        return max(3 - ti.try_number + 1, 1)\n"
    "class Wide(PriorityWeightStrategy):\n    def get_weight(self, ti):\n"
    "        return 10 * ti.priority_weight + len(ti.task.downstream_task_ids)\n"
)


def policies_of(answer: dict) -> dict:
    assert answer["ok"], answer["error"]
    return {task["task_id"]: task["policy"] for task in answer["dags"][0]["spec"]["tasks"]}


def policies(text: str) -> dict:
    return policies_of(compile_text(HEAD + text))


class OwnWeights(unittest.TestCase):
    def test_the_spec_has_what_the_rule_answered_beside_the_weight_that_was_given(self) -> None:
        found = policies(
            "with DAG('d'):\n"
            "    a = EmptyOperator(task_id='a', weight_rule=Decreasing())\n"
            "    a >> EmptyOperator(task_id='b', weight_rule=Wide(), priority_weight=2) >> EmptyOperator(task_id='c')\n"
        )
        self.assertEqual(found["a"]["own_weight"], {"class": "dag.Decreasing", "weight": 4})
        self.assertEqual(found["b"]["own_weight"], {"class": "dag.Wide", "weight": 21})
        self.assertEqual((found["b"]["priority_weight"], found["b"]["weight_rule"]), (2, "absolute"))
        self.assertNotIn("own_weight", found["c"])

    def test_mapped_tasks_have_one_weight_for_all(self) -> None:
        found = policies(
            "with DAG('d'):\n    @task(weight_rule=Wide(), priority_weight=3)\n    def m(x):\n        return x\n    m.expand(x=[1, 2])\n"
        )
        self.assertEqual(found["m"]["own_weight"]["weight"], 30)

    def test_by_the_path_of_the_class(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "weigh.py"), "w", encoding="utf-8") as file:
                file.write(HEAD)
            path = os.path.join(folder, "dag.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(HEAD + "with DAG('d'):\n    EmptyOperator(task_id='a', weight_rule='weigh.Wide')\n")
            found = policies_of(compile_path(path, folder))
        self.assertEqual(found["a"]["own_weight"], {"class": "weigh.Wide", "weight": 10})

    def test_an_answer_that_is_no_number_is_refused(self) -> None:
        answer = compile_text(
            HEAD + "class Text(PriorityWeightStrategy):\n    def get_weight(self, ti):\n        return 'much'\n"
            "with DAG('d'):\n    EmptyOperator(task_id='a', weight_rule=Text())\n"
        )
        self.assertIn("get_weight() of the weight rule dag.Text returned 'much'", answer["error"]["message"])


if __name__ == "__main__":
    unittest.main()
