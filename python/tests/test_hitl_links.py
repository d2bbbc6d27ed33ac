"""Links from a notification to the page that asks: the addresses are those that Airflow 3.2.2 makes."""

from __future__ import annotations

import unittest
from types import SimpleNamespace

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import Param
from svc_runtime.run import current

PAGE = "/dags/d/runs/manual__2026-01-01T00:00:00+00:00/tasks/g.ask/required_actions"


def asking() -> HITLOperator:
    params = {"n": Param(1, type="integer"), "t": "x"}
    return HITLOperator(task_id="ask", subject="s", options=["a b", "c&d"], params=params)


def instance(map_index: int = -1) -> SimpleNamespace:
    return SimpleNamespace(dag_id="d", run_id="manual__2026-01-01T00:00:00+00:00", task_id="g.ask", map_index=map_index)


class LinksToTheQuestion(unittest.TestCase):
    def link(self, map_index: int = -1, **given) -> str:
        return asking().generate_link_to_ui(task_instance=instance(map_index), **given)

    def test_the_link_names_the_instance_and_nothing_else_of_the_base_url_than_its_host(self):
        self.assertEqual(self.link(base_url="http://h:1/x/y/"), f"http://h:1{PAGE}?map_index=-1")
        self.assertEqual(self.link(3, base_url="https://h/?q=1#f"), f"https://h{PAGE}?map_index=3")

    def test_options_and_fields_fill_the_form_in(self):
        one = self.link(base_url="https://h", options="a b")
        self.assertEqual(one, f"https://h{PAGE}?_options=%5B%27a+b%27%5D&map_index=-1")
        all_of_it = self.link(base_url="https://h", options=["a b", "c&d"], params_input={"n": 5, "t": ["u", "v"]})
        options = "%5B%27a+b%27%2C+%27c%26d%27%5D"
        fields = "n=5&t=%5B%27u%27%2C+%27v%27%5D"
        self.assertEqual(all_of_it, f"https://h{PAGE}?_options={options}&{fields}&map_index=-1")

    def test_what_the_question_does_not_have_is_refused_instead_of_leading_to_a_broken_form(self):
        for given, words in (
            ({"options": ["zz"]}, "options {'zz'} are not valid options"),
            ({"params_input": {"q": 1}}, "params {'q'} are not valid params"),
        ):
            with self.assertRaisesRegex(ValueError, words):
                self.link(base_url="https://h", **given)

    def test_without_a_base_url_the_one_of_the_control_plane_is_taken(self):
        self.addCleanup(setattr, current, "base_url", current.base_url)
        current.base_url = "https://svc.example"
        self.assertEqual(self.link(), f"https://svc.example{PAGE}?map_index=-1")

    def test_a_notifier_gets_the_link_from_its_context(self):
        context = {"task": asking(), "task_instance": instance(3)}
        link = HITLOperator.generate_link_to_ui_from_context(context=context, base_url="http://h", options=["a b"])
        self.assertEqual(link, f"http://h{PAGE}?_options=%5B%27a+b%27%5D&map_index=3")
        context["task"] = EmptyOperator(task_id="other")
        with self.assertRaisesRegex(ValueError, "only supports HITLOperator"):
            HITLOperator.generate_link_to_ui_from_context(context=context)


if __name__ == "__main__":
    unittest.main()
