"""Hazard: a module that Airflow 3.3 has is missing here without a word, or imports and then does something else.

airflow_3_3_modules.json lists the public modules of Airflow 3.3.2 (its task SDK and standard provider).
"""

from __future__ import annotations

import datetime
import importlib
import json
import os
import tempfile
import unittest
from unittest import mock

import airflow  # noqa: F401  installs the import paths

# isort: split
from airflow.listeners import hookimpl
from airflow.sdk import DAG, TaskGroup, Variable
from svc_runtime.exceptions import RecordingError
from svc_runtime.refused_modules import REFUSED
from svc_runtime.run import listeners

from . import TESTS
from .support import spec_of


def modules_of_airflow() -> list[str]:
    with open(os.path.join(TESTS, "airflow_3_3_modules.json"), encoding="utf-8") as file:
        return json.load(file)


class Modules(unittest.TestCase):
    def test_each_public_module_of_airflow_3_3_is_here_or_is_refused_with_a_reason(self) -> None:
        silent = []
        for name in modules_of_airflow():
            try:
                importlib.import_module(name)
            except ImportError as error:
                if ": " not in str(error):
                    silent.append(name)
        self.assertEqual(silent, [])

    def test_a_refused_module_says_why_and_what_to_do(self) -> None:
        for name in REFUSED:
            with self.assertRaises(ModuleNotFoundError) as caught:
                importlib.import_module(name)
            self.assertIn(REFUSED[name], str(caught.exception))
            self.assertIn("; ", REFUSED[name])

    def test_the_keys_of_variables_are_refused_with_a_reason(self) -> None:
        with self.assertRaisesRegex(RecordingError, "GET /api/v2/variables"):
            Variable.keys(prefix="a")


class Parts(unittest.TestCase):
    def test_values_that_serde_makes_come_back_as_they_were(self) -> None:
        from airflow.sdk import serde

        value = {"at": datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc), "pair": (1, "b"), "set": {1}}
        sent = json.loads(json.dumps(serde.serialize(value)))
        self.assertEqual(serde.deserialize(sent), value)
        self.assertEqual(serde.decode(serde.serialize((1,)))[0], "builtins.tuple")
        with self.assertRaises(TypeError):
            serde.serialize(object())

    def test_a_listener_that_is_added_hears_what_happens_until_it_is_cleared(self) -> None:
        from airflow.sdk.listener import get_listener_manager

        heard = []

        class Ears:
            @hookimpl
            def on_task_instance_running(self, task_instance):
                heard.append(task_instance)

        with listeners.unheard():
            manager = get_listener_manager()
            manager.add_listener(Ears())
            self.assertTrue(manager.has_listeners)
            manager.hook.on_task_instance_running(previous_state=None, task_instance="t")
            with self.assertRaises(AttributeError):
                manager.hook.on_nothing()
            manager.clear()
            listeners.tell("on_task_instance_running", task_instance="u")
        self.assertEqual(heard, ["t"])

    def test_resources_are_amounts_and_are_part_of_the_spec(self) -> None:
        from airflow.sdk.definitions.operator_resources import Resources

        given = Resources(cpus=2, gpus=1)
        self.assertEqual(Resources.from_dict(given.to_dict()), given)
        self.assertEqual(given.to_dict()["ram"], {"name": "RAM", "qty": 512, "units_str": "MB"})
        with self.assertRaisesRegex(ValueError, "must be non-negative"):
            Resources(disk=-1)
        text = (
            "from airflow.sdk import DAG, BaseOperator\n"
            "from airflow.sdk.definitions.operator_resources import Resources\n"
            "with DAG('d'):\n    BaseOperator(task_id='a', resources=Resources(cpus=4))\n"
        )
        self.assertEqual(spec_of(text)["tasks"][0]["resources"]["cpus"]["qty"], 4)

    def test_conditions_of_a_task_are_functions_too(self) -> None:
        from airflow.sdk.definitions.decorators.condition import run_if, skip_if

        self.assertEqual((run_if.__name__, skip_if.__name__), ("run_if", "skip_if"))

    def test_the_open_dag_and_the_open_group_are_found(self) -> None:
        from airflow.sdk.definitions._internal.contextmanager import DagContext, TaskGroupContext

        self.assertIsNone(DagContext.get_current())
        with DAG("d") as dag, TaskGroup("g") as group:
            self.assertIs(DagContext.get_current(), dag)
            self.assertIs(TaskGroupContext.get_current(dag), group)

    def test_an_environment_is_made_with_the_interpreter_that_it_is_asked_for(self) -> None:
        from airflow.providers.standard.utils.python_virtualenv import prepare_virtualenv

        commands: list[list[str]] = []
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch("subprocess.run", lambda command, check: commands.append(command)),
        ):
            python = prepare_virtualenv(
                folder, "python3.12", True, requirements=["six==1.16"], index_urls=["http://a", "http://b"]
            )
            self.assertEqual(python, f"{folder}/bin/python")
        self.assertEqual(commands[0][:4], ["python3.12", "-m", "venv", "--system-site-packages"])
        self.assertEqual(
            commands[1][2:], ["pip", "install", "--index-url", "http://a", "--extra-index-url", "http://b", "six==1.16"]
        )
        with self.assertRaisesRegex(ValueError, "not both"):
            prepare_virtualenv("x", "python", False, requirements=[], requirements_file_path="r.txt")


if __name__ == "__main__":
    unittest.main()
