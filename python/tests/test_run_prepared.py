"""What the fork server does ahead of its children must not show in them."""

from __future__ import annotations

import unittest

from airflow.providers.standard.decorators.python import _PythonDecoratedOperator, python_task
from svc_runtime.record import current as recording
from svc_runtime.record.dag import DAG
from svc_runtime.record.decorated import task_decorator_factory
from svc_runtime.run.callables import context_arguments, remember
from svc_runtime.run.lazy_context import LazyContext
from svc_runtime.run_server.preload import prepare

from .run_agent import Agent

HANDLER = """
import logging, os
from airflow.sdk import dag, task

class Keeper(logging.Handler):
    words = []
    def emit(self, record):
        self.words.append(record.getMessage())

logging.getLogger().addHandler(Keeper())

@dag(schedule=None)
def d():
    @task
    def heard():
        return list(Keeper.words)
    heard()
d()
"""

MAPPED = """
from airflow.sdk import dag, task

@dag(schedule=None)
def d():
    @task
    def one():
        return "{{ not a template }}"

    @task(retries=2, doc_md="said")
    def add(a, b, fixed, *, task, ti, ds):
        return [a, b, fixed, task.retries, task.doc_md, task.task_id, task.op_kwargs["a"], ti.task is task, ds]

    @task
    def needs(a, other): ...

    add.partial(fixed="{{ ds }}").expand(a=["{{ ds }}", 2], b=[3, 4])
    needs.expand(a=[1])
d()
"""


TEMPLATES = """
import os
import jinja2
from airflow.sdk import DAG, task
from airflow.providers.standard.operators.python import PythonOperator

compiled_by = set()
original = jinja2.Environment.compile
def compile(self, *arguments, **options):
    compiled_by.add(os.getpid())
    return original(self, *arguments, **options)
jinja2.Environment.compile = compile

def body(*values, **more):
    return [*values, more.get("text"), os.getpid() in compiled_by, os.getppid() in compiled_by]

with DAG("d", schedule=None, user_defined_macros={"twice": lambda text: text * 2}):
    PythonOperator(task_id="known", python_callable=body, op_args=["{{ ds }}", ["{{ twice(ds) }}"], "plain"],
                   op_kwargs={"text": "{% if params.yes %}yes{% endif %}"})
    PythonOperator(task_id="broken", python_callable=body, op_args=["{{ ds"])
"""


def _mapped(decorate, **expanded):
    with DAG("d", schedule=None) as dag:
        decorate.expand(**expanded)
    recording.reset()
    prepare(dag)
    return dag.tasks[0]


class Prepared(unittest.TestCase):
    def test_a_prepared_operator_differs_in_nothing_from_one_made_for_its_instance(self) -> None:
        def add(a, b=2): ...

        node = _mapped(python_task(retries=3, doc="d", outlets=[])(add).partial(b=5), a=[1, 2])
        self.assertTrue(node.is_prepared)
        prepared, fresh = node.unmap({"a": 7}), node.unmap({"a": 7})
        self.assertIsNot(prepared, fresh)
        self.assertEqual(prepared.op_kwargs, {"b": 5, "a": 7})
        hidden = {"_svc_init_kwargs", "params"}
        self.assertEqual(
            {name: value for name, value in vars(prepared).items() if name not in hidden},
            {name: value for name, value in vars(fresh).items() if name not in hidden},
        )
        self.assertEqual(dict(prepared.params), dict(fresh.params))

    def test_an_authors_operator_class_is_made_for_every_instance(self) -> None:
        class Own(_PythonDecoratedOperator):
            def __init__(self, *, op_kwargs, **kwargs) -> None:
                super().__init__(op_kwargs={name: value * 2 for name, value in op_kwargs.items()}, **kwargs)

        node = _mapped(task_decorator_factory(lambda a: a, task_id="t", decorated_operator_class=Own), a=[1, 2])
        self.assertFalse(node.is_prepared)
        self.assertEqual(node.unmap({"a": 7}).op_kwargs, {"a": 14})

    def test_mapped_instances_get_their_items_and_fail_as_before_when_an_argument_is_missing(self) -> None:
        with Agent.ready(MAPPED) as agent:
            expanded = {"length": 4}
            last = agent.run("add", map_index=3, expanded=expanded).value()
            self.assertEqual(last, [2, 4, "2024-05-01", 2, "said", "add", 2, True, "2024-05-01"])
            self.assertEqual(agent.run("add", map_index=0, expanded=expanded).value()[0], "2024-05-01")
            failed = agent.run("needs", map_index=0, expanded={"length": 1})
            self.assertEqual(failed.result["failure"]["text"], "TypeError: missing a required argument: 'other'")

    def test_a_handler_of_the_dag_file_hears_nothing_of_warm_ups(self) -> None:
        with Agent.ready(HANDLER) as agent:
            for _ in range(3):
                self.assertEqual(agent.run("heard").value(), [])


class Templates(unittest.TestCase):
    def test_those_of_the_version_are_compiled_once_and_not_by_attempts(self) -> None:
        with Agent.ready(TEMPLATES) as agent:
            for day in ("2024-05-01", "2024-05-02"):
                found = agent.run("known", params={"yes": True}, run={"logical_date": f"{day}T00:00:00Z"})
                self.assertEqual(found.value(), [day, [day * 2], "plain", "yes", False, True], found.text())
            self.assertIn("TemplateSyntaxError", agent.run("broken").result["failure"]["text"])


class Signatures(unittest.TestCase):
    def test_a_remembered_signature_gives_the_same_arguments_as_one_looked_at_now(self) -> None:
        def by_name(a, /, b, *, ds=None): ...

        def all_of_them(ti, **kwargs): ...

        def neither(*args): ...

        context = {"a": 1, "b": 2, "ds": 3, "ti": 4}
        cases = [(by_name, (), {"b": 9}), (by_name, (0, 0), {}), (all_of_them, (0,), {"x": 1}), (neither, (1,), {})]
        expected = [{"b": 9, "ds": 3}, {"ds": 3}, {"a": 1, "b": 2, "ds": 3, "x": 1}, {}]
        self.assertEqual([context_arguments(f, a, k, context) for f, a, k in cases], expected)
        for function in (by_name, all_of_them, neither):
            remember(function)
        self.assertEqual([context_arguments(f, a, k, context) for f, a, k in cases], expected)


class Lazy(unittest.TestCase):
    def setUp(self) -> None:
        self.made: list = []

        def late(context):
            self.made.append("late")
            return context["early"] + 1

        self.context = LazyContext({"early": 1}, {"late": late})

    def test_a_value_is_made_once_and_only_for_who_asks(self) -> None:
        self.assertIn("late", self.context)
        self.assertEqual(self.made, [])
        self.assertEqual([self.context["late"], self.context.get("late"), self.context.setdefault("late", 9)], [2] * 3)
        self.assertEqual(self.made, ["late"])
        with self.assertRaises(KeyError):
            self.context["never"]
        self.assertEqual(self.context.get("never", 3), 3)

    def test_whoever_takes_all_of_it_gets_all_of_it(self) -> None:
        def take_all(**names):
            return names

        ways = {
            "stars": lambda context: {**context},
            "call": lambda context: take_all(**context),
            "dict": dict,
            "update": lambda context: {"early": 0} | context,
            "or": lambda context: context | {},
            "copy": lambda context: context.copy(),
            "items": lambda context: dict(context.items()),
            "loop": lambda context: {name: context[name] for name in context},
            "itself": lambda context: context,
        }
        for name, take in ways.items():
            with self.subTest(name):
                self.setUp()
                self.assertEqual(take(self.context), {"early": 1, "late": 2})

    def test_what_was_deleted_or_set_does_not_come_back(self) -> None:
        del self.context["late"]
        self.assertNotIn("late", self.context)
        self.setUp()
        self.assertEqual(self.context.pop("late"), 2)
        self.assertEqual(len(self.context), 1)
        self.setUp()
        self.context["late"] = 5
        self.assertEqual({**self.context}, {"early": 1, "late": 5})


HEARD = """
import logging
from airflow.sdk import dag, task

class Keeper(logging.Handler):
    def emit(self, record):
        print("kept", record.name, record.levelname, record.filename, record.getMessage())

@dag(schedule=None)
def d():
    @task
    def plain():
        return 1

    @task
    def handled():
        logging.getLogger("airflow.task").addHandler(Keeper())
        return 2

    @task
    def filtered():
        logging.getLogger().handlers[0].addFilter(lambda record: "Returned" not in record.getMessage())

    @task
    def quiet():
        logging.disable(logging.INFO)

    plain(), handled(), filtered(), quiet()
d()
"""


class Notes(unittest.TestCase):
    def test_the_runners_own_line_meets_the_handlers_and_filters_a_body_added(self) -> None:
        name = "airflow.task.operators.airflow.providers.standard.decorators.python._PythonDecoratedOperator"
        with Agent.ready(HEARD) as agent:
            record = agent.run("plain").records[-1]
            self.assertEqual(record["event"], "Done. Returned value was: 1")
            self.assertEqual([record["logger"], record["level"], record["filename"]], [name, "info", "python.py"])
            self.assertGreater(record["lineno"], 1)
            handled = agent.run("handled")
            self.assertEqual(handled.events("task.stdout"), [f"kept {name} INFO python.py Done. Returned value was: 2"])
            self.assertIn("Done. Returned value was: 2", handled.events(name))
            self.assertEqual(agent.run("filtered").events(), [])
            self.assertEqual(agent.run("quiet").events(), [])
