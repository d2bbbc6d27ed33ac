"""Instances of mapped tasks: values of other tasks in every place, what branches give, and names of instances."""

from __future__ import annotations

import unittest

from .run_agent import Agent

TEXT = """
    from airflow.sdk import DAG, BaseOperator, get_current_context, task, task_group
    from airflow.providers.standard.operators.bash import BashOperator
    from airflow.providers.standard.operators.empty import EmptyOperator
    from airflow.providers.standard.operators.python import PythonOperator, ShortCircuitOperator

    def heard(context):
        print("heard", context["n"], context["task_instance"].task_id)

    class Linked(BaseOperator):
        template_fields = ("text",)

        def __init__(self, *, text, before=None, **kwargs):
            super().__init__(**kwargs)
            self.text = text
            self.named = f"{self.dag.dag_id} {self.task_group.group_id}"
            if before is not None:
                self.set_upstream(before)

        def execute(self, context):
            return [self.text, self.named]

    with DAG("d", schedule=None):
        @task
        def big():
            return {"a": 1}

        @task
        def use(n, s):
            return [n, s]

        value = big()
        use.partial(s=value).expand(n=[1, 2])
        use.override(task_id="deep").partial(s={"list": [value, "{{ ds }}"]}).expand(n=[1])
        use.override(task_id="strict").partial(s=1).expand_kwargs([{"n": 1, "s": 2}, {"n": 3}])
        use.override(task_id="lenient").partial(s=1).expand_kwargs([{"n": 1, "s": 2}], strict=False)
        BashOperator.partial(task_id="bash", env=value, append_env=True).expand(bash_command=["echo a is $a"])
        BashOperator.partial(task_id="bash_strict", env={}).expand_kwargs([{"bash_command": "true", "env": {}}])
        BashOperator.partial(task_id="bash_retries").expand_kwargs([{"bash_command": "true", "retries": 3}])
        Linked.partial(task_id="linked", before=EmptyOperator(task_id="before")).expand(text=["{{ ds }}"])

        @task.branch
        def way(to):
            return to

        way.expand(to=["left", "right"]) >> [EmptyOperator(task_id="left"), EmptyOperator(task_id="right")]
        way.override(task_id="one_way")("up") >> [EmptyOperator(task_id="up"), EmptyOperator(task_id="down")]
        gate = ShortCircuitOperator.partial(task_id="gate", python_callable=lambda a: a).expand(op_kwargs=[{"a": 0}])
        gate >> EmptyOperator(task_id="below")

        @task(map_index_template="{{ label }}")
        def named(n):
            get_current_context()["label"] = f"item {n}"

        named.expand(n=[1])

        @task(map_index_template="{{ n }} of {{ task.op_kwargs['n'] }}", on_success_callback=heard)
        def named_by_argument(n, ti):
            return ti

        named_by_argument.partial(ti="mine").expand(n=[7])

        @task(map_index_template="{{ label }}")
        def named_in_a_copy(n, **context):
            context["label"] = "lost"

        named_in_a_copy.expand(n=[1])

        @task_group
        def steps(n):
            return use.override(task_id="inside")(n, 1)

        @task
        def collect(values):
            return None if values is None else list(values)

        done = steps.expand(n=big.override(task_id="items")())
        collect(done)
        collect.override(task_id="collect_mapped")(use.override(task_id="outside").partial(s=1).expand(n=[1]))

        both = {"a": 1, "zz": 2}
        PythonOperator(task_id="some", python_callable=lambda a: a, op_kwargs=both)
        PythonOperator(task_id="all", python_callable=lambda **all: {key: all[key] for key in both}, op_kwargs=both)
        PythonOperator(task_id="only_named", python_callable=lambda a, /: a, op_kwargs=both)
        PythonOperator(task_id="own_date", python_callable=lambda ds: ds, op_kwargs={"ds": "mine", "zz": 2})
        dates = {"logical_date": "mine", "dag_run": None, "ti": 1}
        PythonOperator(task_id="shadowed", python_callable=lambda **all: [all["ds"], all["dag_run"]], op_kwargs=dates)
        PythonOperator.partial(task_id="each", python_callable=lambda a: a).expand(op_kwargs=[both])
"""


class MappedInstances(unittest.TestCase):
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        cls.agent = Agent.ready(TEXT)
        cls.addClassCleanup(cls.agent.close)

    def run_one(self, task_id: str, map_index: int = -1, **job):
        expanded = {"length": 2} if map_index >= 0 else None
        return self.agent.run(task_id, map_index=map_index, expanded=expanded, **job)

    def value(self, task_id: str, map_index: int = -1, **job):
        attempt = self.run_one(task_id, map_index, **job)
        self.assertEqual(attempt.result["state"], "success", attempt.text())
        return attempt.value()

    def test_partial_may_hold_the_value_of_a_task(self) -> None:
        values = {"big": {"a": 1}}
        self.assertEqual(self.value("use", 1, values=values), [2, {"a": 1}])
        self.assertEqual(self.value("deep", 0, values=values), [1, {"list": [{"a": 1}, "2024-05-01"]}])
        self.assertEqual(self.value("bash", 0, values={"big": {"a": "1"}}), "a is 1")

    def test_a_constructor_may_draw_edges_and_look_at_its_dag_and_group(self) -> None:
        self.assertEqual(self.value("linked", 0), ["2024-05-01", "d None"])

    def test_an_argument_in_partial_and_in_an_item_is_refused_unless_asked_for(self) -> None:
        for task_id, name in (("strict", "s"), ("bash_strict", "env"), ("bash_retries", "retries")):
            attempt = self.run_one(task_id, 0)
            self.assertEqual(attempt.result["state"], "failed")
            self.assertIn(f"expand_kwargs() got '{name}'", attempt.result["failure"]["text"])
        self.assertEqual(self.value("strict", 1), [3, 1])
        self.assertEqual(self.value("lenient", 0), [1, 2])

    def test_one_of_several_branches_keeps_its_value_and_skips_all_the_same(self) -> None:
        attempt = self.run_one("way", 0)
        self.assertEqual((attempt.value(), attempt.result["skips"]), ("left", ["right"]))
        attempt = self.run_one("gate", 0)
        self.assertEqual((attempt.value(), attempt.result["skips"]), (0, ["below"]))
        attempt = self.run_one("one_way")
        self.assertEqual((attempt.value(), attempt.result["skips"]), (None, ["down"]))

    def test_an_instance_is_named_by_arguments_and_by_what_the_body_puts_into_the_context(self) -> None:
        self.assertEqual(self.run_one("named", 0).result["rendered_map_index"], "item 1")
        attempt = self.run_one("named_by_argument", 0)
        self.assertEqual(attempt.result["rendered_map_index"], "7 of 7")
        # An argument with the name of a context value is that argument, also for callbacks.
        self.assertEqual(attempt.value(), "mine")
        self.assertIn("heard 7 named_by_argument", attempt.text())

    def test_a_name_that_is_not_there_fails_the_instance_and_says_how_to_set_it(self) -> None:
        attempt = self.run_one("named_in_a_copy", 0)
        self.assertEqual(attempt.result["state"], "failed")
        self.assertIn("'label' is undefined", attempt.result["failure"]["text"])
        self.assertIn("get_current_context()", attempt.text())

    def test_the_output_of_a_group_with_no_values_is_none_and_that_of_a_mapped_task_a_list(self) -> None:
        there_are = ["steps.inside", "outside"]
        self.assertIsNone(self.value("collect", prefetched=there_are))
        self.assertEqual(self.value("collect_mapped", prefetched=there_are), [])
        self.assertEqual(self.value("collect", values={"mapped:steps.inside": [1]}), [1])

    def test_arguments_that_a_callable_does_not_name_are_dropped(self) -> None:
        self.assertEqual(self.value("some"), 1)
        self.assertEqual(self.value("all"), {"a": 1, "zz": 2})
        self.assertEqual(self.value("own_date"), "mine")
        self.assertEqual(self.value("shadowed"), ["2024-05-01", None])
        self.assertEqual(self.value("each", 0), 1)
        self.assertEqual(self.run_one("only_named").result["state"], "failed")


if __name__ == "__main__":
    unittest.main()
