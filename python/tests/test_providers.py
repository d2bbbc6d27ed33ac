"""Provider packages: those that are installed are used as they are, for those that are not what can be recorded is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from unittest import mock

from . import PYTHON
from .run_agent import Agent

# The shape of today's provider packages: everything by common.compat, an enumeration, a link, a decorator, metadata.
FILES = {
    "airflow/providers/orchard/__init__.py": """
        from airflow import __version__ as airflow_version
        if tuple(map(int, airflow_version.split(".")[:2])) < (2, 11):
            raise RuntimeError("too old")
    """,
    "airflow/providers/orchard/operators/__init__.py": "",
    "airflow/providers/orchard/operators/trees.py": """
        import enum
        from airflow.providers.common.compat.sdk import BaseOperator, BaseOperatorLink, XCom
        from airflow.utils.helpers import prune_dict

        class Season(enum.Enum):
            SPRING = "spring"

        class TreeLink(BaseOperatorLink):
            name = "Tree"
            def get_link(self, operator, *, ti_key):
                return "https://trees.example.org/" + XCom.get_value(ti_key=ti_key, key="tree")

        class PlantOperator(BaseOperator):
            template_fields = ("tree",)
            ui_color = "#00ff00"
            operator_extra_links = (TreeLink(),)
            def __init__(self, *, tree, season=Season.SPRING, **kwargs):
                super().__init__(**kwargs)
                if season is not Season.SPRING:
                    raise ValueError("trees are planted in spring")
                self.tree = tree
                self.season = season
            def execute(self, context):
                context["ti"].xcom_push(key="tree", value=self.tree)
                return prune_dict({"tree": self.tree, "season": self.season.value, "none": None})

        def rows(number):
            return [f"tree-{index}" for index in range(number)]
    """,
    "airflow/providers/orchard/hooks/__init__.py": "",
    "airflow/providers/orchard/hooks/trees.py": """
        from airflow.providers.common.compat.sdk import BaseHook
        class TreeHook(BaseHook):
            conn_name_attr = "tree_conn_id"
            hook_name = "Trees"
            def __init__(self, tree_conn_id="tree_default"):
                super().__init__()
                self.host = self.get_connection(tree_conn_id).host
    """,
    "airflow/providers/orchard/decorators.py": """
        from airflow.providers.common.compat.sdk import DecoratedOperator, task_decorator_factory
        class _Water(DecoratedOperator):
            custom_operator_name = "@task.water"
            def execute(self, context):
                return ["watered", self.python_callable(*self.op_args, **self.op_kwargs)]
        def water_task(python_callable=None, **kwargs):
            return task_decorator_factory(python_callable, decorated_operator_class=_Water, **kwargs)
    """,
    "airflow/providers/orchard/get_provider_info.py": """
        def get_provider_info():
            return {
                "package-name": "apache-airflow-providers-orchard",
                "connection-types": [
                    {"connection-type": "tree", "hook-class-name": "airflow.providers.orchard.hooks.trees.TreeHook"}
                ],
                "task-decorators": [
                    {"name": "water", "class-name": "airflow.providers.orchard.decorators.water_task"}
                ],
                "config": {
                    "orchard": {
                        "description": "Settings of trees",
                        "options": {
                            "Rows": {"type": "integer", "default": 4},
                            "shade": {"type": "boolean", "default": "False"},
                            "gardener": {"type": "string", "default": None},
                        },
                    },
                    "core": {"options": {"parallelism": {"default": "999"}, "fernet_key": {"default": "canary"}}},
                },
            }
    """,
    "apache_airflow_providers_orchard-1.0.dist-info/METADATA": """
        Metadata-Version: 2.1
        Name: apache-airflow-providers-orchard
        Version: 1.0
    """,
    "apache_airflow_providers_orchard-1.0.dist-info/entry_points.txt": """
        [apache_airflow_provider]
        provider_info=airflow.providers.orchard.get_provider_info:get_provider_info
    """,
}

HEAD = """
    from airflow.providers.orchard.operators.trees import PlantOperator, Season, rows
    from airflow.providers.common.compat.sdk import DAG, Connection, timezone
    from airflow.sdk import task
"""
DAG_TEXT = (
    HEAD
    + """
    with DAG("d", schedule=None):
        for name in rows(2):
            PlantOperator(task_id=name, tree="{{ ti.task_id }}", season=Season.SPRING)

        @task.water
        def water():
            return Connection.get("big").get_hook().host

        water()
"""
)


class Providers(unittest.TestCase):
    folder: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for name, text in FILES.items():
            path = os.path.join(cls.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(textwrap.dedent(text).lstrip())

    def compile(self, text: str, *, installed: bool = True) -> dict:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "d.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(textwrap.dedent(text).lstrip())
            env = {**os.environ, "PYTHONPATH": os.pathsep.join([PYTHON, *([self.folder] if installed else [])])}
            command = [sys.executable, "-m", "svc_runtime.compile_server", "--once", path]
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
            return json.loads(done.stdout)

    def test_an_installed_provider_is_used_as_it_is_while_a_file_is_compiled(self) -> None:
        answer = self.compile(DAG_TEXT)
        self.assertTrue(answer["ok"], answer)
        tasks = {task["task_id"]: task for task in answer["dags"][0]["spec"]["tasks"]}
        self.assertEqual(sorted(tasks), ["tree-0", "tree-1", "water"])
        plant = tasks["tree-0"]
        self.assertEqual(plant["template_fields"], ["tree"])
        self.assertEqual(plant["arguments"], {"season": "spring", "tree": "{{ ti.task_id }}"})
        operator = plant["operator"]
        self.assertEqual(
            [operator["module"], operator["name"]], ["airflow.providers.orchard.operators.trees", "PlantOperator"]
        )
        self.assertEqual([operator["ui_color"], operator["extra_links"]], ["#00ff00", ["Tree"]])
        self.assertEqual(operator["link_keys"], {"Tree": "_link_TreeLink"})
        self.assertFalse(operator["recorded_only"])
        self.assertEqual(tasks["water"]["operator"]["operator_name"], "@task.water")

    def test_what_an_installed_provider_refuses_or_does_not_have_is_refused_at_its_line(self) -> None:
        wrong = 'with DAG("d"):\n        PlantOperator(task_id="a", tree="x", season="autumn")\n'
        error = self.compile(HEAD + "    " + wrong)["error"]
        self.assertIn("trees are planted in spring", error["message"])
        self.assertEqual(error["line"], 5)
        missing = self.compile("from airflow.providers.orchard.operators.flowers import Rose\n")["error"]
        self.assertEqual([missing["type"], missing["line"]], ["import", 1])

    def test_of_one_that_is_not_installed_operators_are_recorded_and_calls_refused(self) -> None:
        recorded = (
            "from airflow.providers.orchard.operators.trees import PlantOperator, Season\n"
            "from airflow.sdk import DAG\n"
            'with DAG("d"):\n    PlantOperator(task_id="a", tree="x", season=Season.SPRING)\n'
        )
        answer = self.compile(recorded, installed=False)
        self.assertTrue(answer["ok"], answer)
        self.assertTrue(answer["dags"][0]["spec"]["tasks"][0]["operator"]["recorded_only"])
        error = self.compile("from airflow.providers.orchard.operators.trees import rows\nrows(2)\n", installed=False)[
            "error"
        ]
        self.assertEqual([error["type"], error["line"]], ["cannot_record", 2])
        self.assertIn("Install the provider package", error["instead"])

    def test_what_compiles_runs(self) -> None:
        settings = {"PYTHONPATH": self.folder, "AIRFLOW_CONN_BIG": "tree://orchard.example.org"}
        with Agent.ready(DAG_TEXT, settings=settings) as agent:
            planted = agent.run("tree-1")
            self.assertEqual(planted.result["state"], "success", planted.text())
            self.assertEqual(planted.value(), {"tree": "tree-1", "season": "spring"})
            links = [entry for entry in planted.result["xcoms"] if entry["key"] == "_link_TreeLink"]
            self.assertEqual([entry["value"] for entry in links], ["https://trees.example.org/tree-1"])
            watered = agent.run("water")
            self.assertEqual(watered.result["state"], "success", watered.text())
            self.assertEqual(watered.value(), ["watered", "orchard.example.org"])

    def test_settings_have_the_defaults_that_installed_providers_declare(self) -> None:
        text = """
            from airflow.sdk import DAG, conf
            from airflow.sdk.exceptions import AirflowConfigException

            def asked(section, key):
                try:
                    return conf.get(section, key)
                except AirflowConfigException as error:
                    return str(error)

            found = [conf.getint("orchard", "rows"), conf.getboolean("orchard", "shade"), conf.getsection("orchard")]
            found += [asked("orchard", "gardener"), conf.getint("core", "parallelism"), asked("core", "fernet_key")]
            with DAG("d", params={"found": found}):
                ...
        """
        answer = self.compile(text)
        self.assertTrue(answer["ok"], answer)
        rows, shade, section, gardener, parallelism, key = answer["dags"][0]["spec"]["params"][0]["default"]
        self.assertEqual([rows, shade, section], [4, False, {"rows": "4", "shade": "False"}])
        self.assertIn("[orchard/gardener] not found", gardener)
        # What Airflow itself declares is not a provider's to change, and a secret stays one.
        self.assertEqual(parallelism, 32)
        self.assertIn("is a secret of the control plane", key)

    def test_the_environment_and_a_fallback_are_asked_before_and_after_a_providers_default(self) -> None:
        text = (
            "from airflow.sdk import DAG, conf\n"
            'found = [conf.get("orchard", "rows", fallback="1"), conf.get("orchard", "gardener", fallback="ada")]\n'
            'with DAG("d", params={"found": found}): ...\n'
        )
        found = self.compile(text)["dags"][0]["spec"]["params"][0]["default"]
        self.assertEqual(found, ["4", "ada"])
        with mock.patch.dict(os.environ, {"AIRFLOW__ORCHARD__ROWS": "7"}):
            found = self.compile(text)["dags"][0]["spec"]["params"][0]["default"]
        self.assertEqual(found, ["7", "ada"])
        found = self.compile(text, installed=False)["dags"][0]["spec"]["params"][0]["default"]
        self.assertEqual(found, ["1", "ada"])

    def test_a_queue_that_cannot_be_loaded_is_in_nobodys_way(self) -> None:
        from svc_runtime.run.providers_manager import ProviderInfo, ProvidersManager

        manager = object.__new__(ProvidersManager)
        queues = ["json.JSONDecoder", "no_such_package.Queue", "json.NoSuchQueue"]
        manager.__dict__["providers"] = {"orchard": ProviderInfo("1", {"queues": queues})}
        self.assertEqual(manager.queue_class_names, ["json.JSONDecoder"])

    def test_parts_of_airflows_own_processes_say_why_they_are_not_there(self) -> None:
        error = self.compile("from airflow.executors.base_executor import BaseExecutor\n")["error"]
        self.assertIn("choose one by executor.type", error["message"] + error["instead"])

    def test_a_task_of_a_dag_is_decorated_by_the_dag(self) -> None:
        text = 'from airflow.sdk import DAG\nd = DAG("d")\n@d.task(task_id="a")\ndef f(): ...\nf()\n@d.task\ndef g(): ...\ng()\n'
        answer = self.compile(text, installed=False)
        self.assertTrue(answer["ok"], answer)
        self.assertEqual(sorted(task["task_id"] for task in answer["dags"][0]["spec"]["tasks"]), ["a", "g"])
