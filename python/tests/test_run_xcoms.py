"""Which instance gets which value: pushed, pulled, expanded, and in mapped groups."""

from __future__ import annotations

import base64
import json
import os
import tempfile
import unittest

from svc_runtime.run.xcom_values import decode, encode

from .run_agent import Agent, Refused

TEXT = """
    import dataclasses, datetime
    from airflow.exceptions import AirflowSkipException
    from airflow.sdk import DAG, task, task_group, get_current_context
    from airflow.providers.standard.operators.bash import BashOperator
    from airflow.providers.standard.operators.python import PythonOperator

    @dataclasses.dataclass
    class Order:
        number: int

    def skip_two(x):
        if x == 2:
            raise AirflowSkipException("not two")
        return x * 100

    with DAG("d", schedule=None):
        @task
        def source():
            return [1, 2, 3]

        @task
        def other():
            return {"k": "v", "l": "w"}

        @task
        def text():
            return "text"

        @task
        def nothing():
            return None

        @task
        def pair():
            return (1, 2)

        @task
        def own_class():
            return [Order(1), (datetime.date(2024, 1, 1), {3})]

        @task
        def use_class(orders):
            return [type(orders[0]).__name__, orders[0].number, type(orders[1]).__name__, sorted(orders[1][1])]

        use_class(own_class())

        @task(multiple_outputs=True)
        def large():
            return {"small": 1, "date": (datetime.date(2024, 1, 1), "x" * 2_000_000)}

        @task
        def use_large(value):
            return [len(value["date"][1]), type(value["date"][0]).__name__]

        use_large(large())
        text(), nothing(), pair()

        @task(multiple_outputs=True)
        def several():
            return {"a": 1, "b": (2,)}

        @task
        def uses_several(a, whole):
            return [a, whole]

        outputs = several()
        uses_several(outputs["a"], outputs)

        @task(multiple_outputs=True)
        def not_several():
            return [1]

        @task(do_xcom_push=False)
        def keeps():
            return 5

        @task
        def big():
            return "x" * 2_000_000

        @task
        def unfit():
            return object()

        not_several(), keeps(), big(), unfit()

        @task
        def pushes(ti=None):
            ti.xcom_push(key="a", value=(1, {2}))
            return ti.xcom_pull(key="a")

        @task
        def pulls(ti=None, dag_run=None):
            return ti.xcom_pull(**dag_run.conf["how"])

        pushes()
        pulls()

        one, two = source(), other()

        @task
        def add(x, y=0):
            return x, y

        add.partial(y=5).expand(x=one)
        add.override(task_id="cross").expand(x=one, y=two)
        add.override(task_id="kwargs").expand_kwargs([{"x": 1}, {"x": "{{ ds }}", "y": 3}])
        add.override(task_id="kwargs_of_task").expand_kwargs(text.override(task_id="dicts")())
        add.override(task_id="literal").partial(y="{{ ds }}").expand(x=["{{ ds }}", 2])
        add.override(task_id="mapped_values").expand(x=one.map(skip_two))
        add.override(task_id="zipped").expand(x=one.zip(two, fillvalue="none"))
        add.override(task_id="joined").expand(x=one.concat(two))
        again = add.override(task_id="first").expand(x=one)
        add.override(task_id="second").expand(x=again)

        @task
        def total(values):
            return [type(values).__name__, len(values), list(values), values[-1]]

        total(again)

        BashOperator.partial(task_id="bash", env={"A": "{{ ds }}"}).expand(bash_command=one.map(lambda x: f"echo {x} $A {{{{ ds }}}}"))

        @task(map_index_template="{{ label }} of {{ task.op_kwargs['x'] }}")
        def named(x):
            get_current_context()["label"] = "part"
            if x == 2:
                raise ValueError("two")
            return [get_current_context()["expanded_ti_count"], get_current_context()["ti"].map_index]

        named.expand(x=one)

        @task_group
        def group(item, fixed):
            @task
            def a(item, fixed):
                return [item, fixed]

            @task
            def b(value, ti=None):
                return [value, ti.map_index]

            return b(a(item, fixed))

        result = group.partial(fixed="f").expand(item=one)
        total.override(task_id="after_group")(result)

        @task_group
        def by_kwargs(x, y):
            add.override(task_id="inner")(x, y)

        by_kwargs.expand_kwargs([{"x": 1, "y": 2}, {"x": 3, "y": 4}])

        @task_group
        def outer(letter):
            @task
            def before(letter):
                return letter

            @task_group
            def inner(digit, letter):
                @task
                def both(letter, digit, first):
                    return [letter, digit, first]

                return both(letter, digit, first)

            first = before(letter)
            made = inner.partial(letter=letter).expand(digit=[1, 2, 3])

            @task
            def after(values):
                return list(values)

            after(made)
            add.override(task_id="mapped_inside").partial(y=letter).expand(x=one)

        outer.expand(letter=["a", "b"])
"""


BACKEND = """
    import json, os
    from airflow.models.xcom import BaseXCom

    class Shelf(BaseXCom):
        @staticmethod
        def serialize_value(value, *, key=None, task_id=None, dag_id=None, run_id=None, map_index=None):
            name = f"{task_id}-{key}-{map_index}.json"
            with open(os.path.join(os.environ["SHELF"], name), "w") as file:
                json.dump(BaseXCom.serialize_value(value), file)
            return BaseXCom.serialize_value("shelf://" + name)

        @staticmethod
        def deserialize_value(result):
            name = BaseXCom.deserialize_value(result).removeprefix("shelf://")
            with open(os.path.join(os.environ["SHELF"], name)) as file:
                value = json.load(file)
            return BaseXCom.deserialize_value(type("Found", (), {"value": value}))

        @classmethod
        def purge(cls, xcom, *args):
            os.remove(os.path.join(os.environ["SHELF"], xcom.value.removeprefix("shelf://")))
"""


class AuthorsBackend(unittest.TestCase):
    def test_the_class_that_xcom_backend_names_is_called_in_the_process_of_the_task(self) -> None:
        dag = """
            from airflow.sdk import DAG, task, XComArg
            from airflow.models.xcom import XCom

            with DAG("d", schedule=None):
                @task
                def make(ti=None):
                    ti.xcom_push("more", {3})
                    return [1, (2,)]

                @task
                def look(found):
                    return [found[0], type(found[1]).__name__]

                @task
                def drop(ti=None):
                    ti.xcom_push("more", {3})
                    XCom.delete(key="more", task_id="drop", dag_id="d", run_id=ti.run_id)

                look(make())
                drop()
        """
        with tempfile.TemporaryDirectory() as shelf:
            settings = {"AIRFLOW__CORE__XCOM_BACKEND": "own_backend.Shelf", "SHELF": shelf}
            with Agent.ready(dag, files={"own_backend.py": BACKEND}, settings=settings) as agent:
                made = agent.run("make")
                self.assertEqual(made.result["state"], "success", made.text())
                entry = {"key": "return_value", "value": "shelf://make-return_value--1.json", "length": 2}
                self.assertEqual(made.result["xcoms"], [entry])
                pushed = {"key": "more", "value": "shelf://make-more--1.json", "length": None}
                self.assertEqual([request["params"] for request in made.requests], [pushed])
                looked = agent.run("look", values={"make": entry["value"]})
                self.assertEqual(looked.result["state"], "success", looked.text())
                with open(os.path.join(shelf, "look-return_value--1.json"), encoding="utf-8") as file:
                    self.assertEqual(json.load(file), [1, "tuple"])
                found = {"task_id": "drop", "map_index": -1, "key": "more", "value": "shelf://drop-more--1.json"}
                dropped = agent.run("drop", answers={"get_xcom": [found]})
                self.assertEqual(dropped.result["state"], "success", dropped.text())
                self.assertEqual([request["method"] for request in dropped.requests][-1], "delete_xcom")
                self.assertNotIn("drop-more--1.json", os.listdir(shelf))


class Between(unittest.TestCase):
    agent: Agent

    @classmethod
    def setUpClass(cls) -> None:
        cls.agent = Agent.ready(TEXT)
        cls.addClassCleanup(cls.agent.close)

    def value(self, task_id: str, **options):
        attempt = self.agent.run(task_id, **options)
        self.assertEqual(attempt.result["state"], "success", attempt.text())
        return decode(attempt.value())

    def failure(self, task_id: str, **options) -> dict:
        attempt = self.agent.run(task_id, **options)
        self.assertEqual((attempt.result["state"], attempt.result["xcoms"]), ("failed", []), attempt.text())
        return attempt.result["failure"]

    def test_classes_of_the_file_are_known_to_its_other_tasks(self) -> None:
        made = self.agent.run("own_class").value()
        self.assertEqual(made[0]["__classname__"], "svc_dag_dag.Order")
        self.assertEqual(self.value("use_class", values={"own_class": made}), ["Order", 1, "tuple", [3]])

    def test_a_large_value_travels_in_parts_and_comes_back_when_it_is_used(self) -> None:
        limits = {"inline_bytes": 100, "max_bytes": 3_000_000}
        store: dict = {}

        def store_value(id, bytes, offset, data):
            part = base64.b64decode(data)
            self.assertEqual(offset, sum(map(len, store.setdefault(id, []))))
            store[id].append(part)
            return {"received": offset + len(part)}

        def read_value(id, part):
            return {"bytes": sum(map(len, store[id])), "data": base64.b64encode(store[id][part]).decode()}

        attempt = self.agent.run("large", answers={"store_value": store_value}, xcom_limits=limits)
        self.assertEqual(attempt.result["state"], "success", attempt.text())
        entry, _, whole = attempt.result["xcoms"]
        self.assertEqual((entry["key"], entry["value"]), ("small", 1))
        self.assertEqual(whole["stored"]["length"], 2)
        self.assertRegex(whole["value"], r"A dict with 2 items, 2,000,\d+ bytes as JSON")
        self.assertEqual([len(part) for part in store[whole["stored"]["id"]]][:1], [1024 * 1024])
        found = {"task_id": "large", "map_index": -1, "key": "return_value", "value": whole["value"]}

        def get_xcom(**_):
            return [{**found, "stored": whole["stored"]["id"]}]

        answers = {"get_xcom": get_xcom, "read_value": read_value}
        self.assertEqual(self.value("use_large", answers=answers, xcom_limits=limits), [2_000_000, "date"])
        limits = {"inline_bytes": 100, "max_bytes": 1_000_000}
        failure = self.failure("large", xcom_limits=limits, answers={"store_value": store_value})
        self.assertEqual(failure["cause"], "xcom_too_large")

    def test_multiple_outputs_are_keys_of_their_own(self) -> None:
        attempt = self.agent.run("several")
        self.assertEqual([entry["key"] for entry in attempt.result["xcoms"]], ["a", "b", "return_value"])
        entries = {"a": 1, "return_value": attempt.value()}

        def get_xcom(task_id, key, map_index):
            return [{"task_id": task_id, "map_index": -1, "key": key, "value": entries[key]}]

        self.assertEqual(self.value("uses_several", answers={"get_xcom": get_xcom}), [1, {"a": 1, "b": (2,)}])
        self.assertIn("must return a dict, not a list", self.failure("not_several")["text"])

    def test_no_value_is_pushed_for_none_or_against_the_authors_wish(self) -> None:
        for task_id in ("nothing", "keeps"):
            result = self.agent.run(task_id).result
            self.assertEqual((result["state"], result["xcoms"]), ("success", []))

    def test_values_that_are_too_large_or_unfit_fail_the_task_and_say_why(self) -> None:
        large = self.failure("big")
        self.assertEqual(large["cause"], "xcom_too_large")
        self.assertIn("2000002 bytes, more than the 1048576", large["text"])
        self.assertEqual(self.failure("text", xcom_max_bytes=5)["cause"], "xcom_too_large")
        self.assertIn("cannot pass a value of type builtins.object", self.failure("unfit")["text"])

    def test_a_value_that_is_mapped_over_must_have_a_length(self) -> None:
        for task_id in ("text", "nothing"):
            self.assertEqual(self.failure(task_id, mapped_over=True)["cause"], "unmappable_value")
        self.assertEqual(self.value("source", mapped_over=True), [1, 2, 3])
        # A task that takes the whole value gets the tuple.
        self.assertEqual(decode(self.agent.run("pair", mapped_over=True).value()), (1, 2))

    def test_pushed_values_are_sent_at_once_and_seen_by_their_own_task(self) -> None:
        attempt = self.agent.run("pushes")
        sent = attempt.requests[0]
        self.assertEqual((sent["method"], sent["params"]["key"]), ("set_xcom", "a"))
        self.assertEqual(decode(sent["params"]["value"]), (1, {2}))
        self.assertEqual((decode(attempt.value()), len(attempt.requests)), ((1, {2}), 1))

    def test_a_pushed_value_the_control_plane_finds_too_large(self) -> None:
        def set_xcom(**_):
            raise Refused("the value for a has 9 bytes", "too_large")

        self.assertEqual(self.failure("pushes", answers={"set_xcom": set_xcom})["cause"], "xcom_too_large")

    def test_pulling_as_airflow_does(self) -> None:
        """Expected values as printed by Airflow 3.2.2, but that `default` is honoured without map_indexes too."""
        stored = {("m", 0): 10, ("m", 1): 20, ("m1", 0): 10, ("items", -1): [1, 2]}

        def get_xcom(task_id, key, map_index, **place):
            return [
                {"task_id": task, "map_index": index, "key": key, "value": value}
                for (task, index), value in sorted(stored.items())
                if task == task_id and key == "return_value" and map_index in (None, index) and not place
            ]

        for how, expected in (
            ({"task_ids": "m"}, [10, 20]),
            ({"task_ids": "m1"}, 10),
            ({"task_ids": "items"}, [1, 2]),
            ({"task_ids": ["items", "m"]}, [[1, 2], 10, 20]),
            ({"task_ids": "nope"}, None),
            ({"task_ids": ["nope", "items"]}, [None, [1, 2]]),
            ({"task_ids": "m", "map_indexes": 1}, 20),
            ({"task_ids": "m", "map_indexes": [0, 1]}, [10, 20]),
            ({"task_ids": "m", "map_indexes": [0]}, [10]),
            ({"task_ids": ["m"], "map_indexes": 0}, [10]),
            ({}, None),
            ({"task_ids": "items", "key": "k"}, None),
            ({"task_ids": "items", "key": "k", "default": 5}, 5),
            ({"task_ids": "m", "map_indexes": None}, None),
            ({"task_ids": "items", "map_indexes": 0}, None),
            ({"task_ids": "items", "map_indexes": -1}, [1, 2]),
            ({"task_ids": ["m1"]}, [10]),
            ({"task_ids": ["m"], "key": "zz"}, [None]),
            ({"task_ids": "items", "dag_id": "d", "run_id": "manual__1"}, [1, 2]),
        ):
            with self.subTest(how=how):
                attempt = self.agent.run("pulls", answers={"get_xcom": get_xcom}, **_with(how))
                self.assertEqual(attempt.result["state"], "success", attempt.text())
                self.assertEqual(attempt.value(), expected)

    def test_other_dags_runs_and_earlier_dates_are_asked_for_as_such(self) -> None:
        how = {"task_ids": "t", "dag_id": "other", "run_id": "r", "include_prior_dates": True}
        attempt = self.agent.run("pulls", answers={"get_xcom": []}, **_with(how))
        self.assertEqual(
            attempt.requests[0]["params"],
            {
                "task_id": "t",
                "map_index": None,
                "key": "return_value",
                "dag_id": "other",
                "run_id": "r",
                "include_prior_dates": True,
            },
        )

    def mapped(self, task_id: str, indexes, **options) -> list:
        return [self.value(task_id, map_index=index, **options) for index in indexes]

    def test_each_instance_gets_its_item(self) -> None:
        values = {"source": [1, 2, 3], "other": {"k": "v", "l": "w"}}
        self.assertEqual(self.mapped("add", range(3), values=values), [(1, 5), (2, 5), (3, 5)])
        cross = self.mapped("cross", range(6), values=values)
        # The last argument varies fastest, as in Airflow; a dict is expanded over its pairs.
        self.assertEqual(cross, [(x, y) for x in (1, 2, 3) for y in (("k", "v"), ("l", "w"))])
        beyond = self.failure("cross", map_index=6, values=values)
        self.assertIn("map index 6 is beyond", beyond["text"])

    def test_lists_of_keyword_arguments(self) -> None:
        self.assertEqual(self.mapped("kwargs", range(2)), [(1, 0), ("2024-05-01", 3)])
        dicts = {"dicts": [{"x": 7}, {"x": "{{ ds }}"}, 5]}
        self.assertEqual(self.mapped("kwargs_of_task", range(2), values=dicts), [(7, 0), ("{{ ds }}", 0)])
        self.assertIn("expects a list of dicts", self.failure("kwargs_of_task", map_index=2, values=dicts)["text"])

    def test_values_of_tasks_are_never_rendered_but_literals_are(self) -> None:
        self.assertEqual(self.mapped("literal", range(2)), [("2024-05-01", "2024-05-01"), (2, "2024-05-01")])
        self.assertEqual(self.value("add", map_index=0, values={"source": ["{{ ds }}"]}), ("{{ ds }}", 5))
        bash = self.agent.run("bash", map_index=1, values={"source": [1, "'{{ 7 * 7 }}'"]})
        self.assertEqual(bash.value(), "{{ 7 * 7 }} 2024-05-01 {{ ds }}")

    def test_mapping_zipping_joining(self) -> None:
        values = {"source": [1, 2, 3], "other": {"k": "v", "l": "w"}}
        self.assertEqual(self.mapped("mapped_values", (0, 2), values=values), [(100, 0), (300, 0)])
        skipped = self.agent.run("mapped_values", map_index=1, values=values)
        self.assertEqual(skipped.result["state"], "skipped")
        self.assertEqual(
            self.mapped("zipped", range(3), values=values),
            [((1, ("k", "v")), 0), ((2, ("l", "w")), 0), ((3, "none"), 0)],
        )
        self.assertEqual(self.mapped("joined", (2, 3, 4), values=values), [(3, 0), (("k", "v"), 0), (("l", "w"), 0)])

    def test_instances_of_a_mapped_task_as_a_sequence(self) -> None:
        values = {"mapped:first": [encode((1, 0)), encode((2, 0))]}
        self.assertEqual(self.mapped("second", range(2), values=values), [((1, 0), 0), ((2, 0), 0)])
        total = self.agent.run("total", values=values)
        self.assertEqual(decode(total.value()), ["LazySequence", 2, [(1, 0), (2, 0)], (2, 0)])
        self.assertEqual(total.result["rendered_fields"]["op_args"], ["(values of mapped instances)"])

    def test_labels_of_instances_are_rendered_after_the_body_even_when_it_fails(self) -> None:
        values = {"source": [1, 2]}
        named = self.agent.run("named", map_index=0, values=values, expanded={"length": 2})
        self.assertEqual((named.result["rendered_map_index"], named.value()), ("part of 1", [2, 0]))
        failed = self.agent.run("named", map_index=1, values=values)
        self.assertEqual((failed.result["rendered_map_index"], failed.result["state"]), ("part of 2", "failed"))

    def test_nested_levels_the_innermost_varies_fastest(self) -> None:
        values = {"mapped:outer.before": ["A", "B"], "source": [7, 8, 9]}
        self.assertEqual(
            self.mapped("outer.inner.both", range(6), values=values),
            [[letter.lower(), digit, letter] for letter in "AB" for digit in (1, 2, 3)],
        )
        values["mapped:outer.inner.both"] = [0, 1, 2, 3, 4, 5]
        self.assertEqual(self.mapped("outer.after", range(2), values=values), [[0, 1, 2], [3, 4, 5]])
        inside = self.mapped("outer.mapped_inside", range(6), values=values)
        self.assertEqual(inside, [(number, letter) for letter in "ab" for number in (7, 8, 9)])

    def test_one_of_thousands_of_values_is_fetched_alone(self) -> None:
        def get_xcom(task_id, key, map_index):
            return [{"task_id": task_id, "map_index": map_index, "key": key, "value": map_index * 2}]

        counted = {"expanded": {"length": 5000}, "upstream_lengths": {"first": 5000}, "map_index": 4711}
        attempt = self.agent.run("second", answers={"get_xcom": get_xcom}, **counted)
        self.assertEqual(decode(attempt.value()), (9422, 0))
        self.assertEqual([request["params"]["map_index"] for request in attempt.requests], [4711])

        # Some instances left no value, so the third value need not be that of instance two.
        def some(task_id, key, map_index):
            self.assertIsNone(map_index)
            return [{"task_id": task_id, "map_index": index, "key": key, "value": index} for index in (0, 3, 4)]

        sparse = {"expanded": {"length": 3}, "upstream_lengths": {"first": 5}, "map_index": 1}
        self.assertEqual(self.value("second", answers={"get_xcom": some}, **sparse), (3, 0))

    def test_tasks_of_a_mapped_group_see_their_own_branch(self) -> None:
        self.assertEqual(self.value("group.a", map_index=1, values={"source": [1, 2, 3]}), [2, "f"])
        values = {"mapped:group.a": [[1, "f"], [2, "f"]]}
        self.assertEqual(self.value("group.b", map_index=1, values=values), [[2, "f"], 1])
        self.assertEqual(
            self.value("after_group", values={"mapped:group.b": ["x", "y"]})[:3], ["LazySequence", 2, ["x", "y"]]
        )
        self.assertEqual(self.mapped("by_kwargs.inner", range(2)), [(1, 2), (3, 4)])


def _with(how: dict) -> dict:
    """What `pulls` asks for, as the run's conf."""
    return {"run": {"conf": {"how": how}}}


if __name__ == "__main__":
    unittest.main()
