"""`airflow_local_settings.py`: its policies see every DAG and task, when a file is compiled and when a task runs."""

from __future__ import annotations

import os
import tempfile
import textwrap
import unittest

from .run_agent import Agent
from .support import compile_path

SETTINGS = """
    from datetime import timedelta
    from airflow.exceptions import AirflowClusterPolicySkipDag, AirflowClusterPolicyViolation

    def tell(context):
        print("policy heard of", context["ti"].task_id)

    def dag_policy(dag):
        if "skip" in dag.tags:
            raise AirflowClusterPolicySkipDag("not here")
        if not dag.tags:
            raise AirflowClusterPolicyViolation(f"DAG {dag.dag_id} has no tags")

    def task_policy(task):
        if task.task_id == "forbidden":
            raise AirflowClusterPolicyViolation("the name is forbidden")
        task.retries = 4
        task.execution_timeout = timedelta(hours=1)
        task.on_success_callback = tell

    def task_instance_mutation_hook(ti):
        if ti.task_id == "big":
            ti.queue = "large"
            ti.pool = "heavy"
        if ti.run_id:
            print("mutated", ti.task_id, ti.queue)

    def pod_mutation_hook(pod):
        ...
"""
DAG_FILE = """
    from airflow.sdk import DAG, task
    with DAG("d", tags=["team"]):
        @task
        def big():
            return 1
        @task
        def each(x):
            return x
        each.expand(x=[big()])
    left_out = DAG("left_out", tags=["skip"])
"""


def compiled(text: str, settings: str = SETTINGS) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (("airflow_local_settings.py", settings), ("dag.py", text)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(textwrap.dedent(content))
        return compile_path(os.path.join(folder, "dag.py"), folder)


class LocalSettings(unittest.TestCase):
    def test_what_policies_change_is_in_the_spec_of_plain_and_of_mapped_tasks(self) -> None:
        answer = compiled(DAG_FILE)
        self.assertTrue(answer["ok"], answer.get("error"))
        self.assertEqual([dag["dag_id"] for dag in answer["dags"]], ["d"])
        tasks = {task["task_id"]: task for task in answer["dags"][0]["spec"]["tasks"]}
        for task in tasks.values():
            self.assertEqual((task["policy"]["retries"], task["policy"]["execution_timeout"]), (4, 3600))
            self.assertEqual(task["callbacks"]["on_success"][0]["qualname"], "tell")
        self.assertEqual((tasks["big"]["policy"]["queue"], tasks["big"]["policy"]["pool"]), ("large", "heavy"))
        self.assertEqual(tasks["each"]["policy"]["queue"], "default")
        modules = [module["module"] for module in answer["dags"][0]["spec"]["source"]["modules"]]
        self.assertIn("airflow_local_settings", modules)
        self.assertEqual([noted["row"] for noted in answer["differences"]], ["pod-mutation-hook", "mutation-hook"])

    def test_a_violation_is_an_import_error_with_the_line_of_what_it_is_about(self) -> None:
        error = compiled("\nfrom airflow.sdk import DAG\n\ndag = DAG('plain')\n")["error"]
        self.assertEqual((error["path"], error["line"]), ("dag.py", 4))
        self.assertIn("refuses DAG plain: DAG plain has no tags", error["message"])
        text = """
            from airflow.sdk import DAG, task
            with DAG("d", tags=["team"]):
                @task
                def forbidden(): ...
                forbidden()
        """
        error = compiled(text)["error"]
        self.assertIn("refuses task forbidden of DAG d: the name is forbidden", error["message"])
        self.assertEqual(error["line"], 5)

    def test_a_file_of_policies_that_fails_lets_no_dag_pass_and_names_its_own_line(self) -> None:
        for settings in ("\nraise ValueError('broken')\n", "\ndef dag_policy(dag): raise ValueError('broken')\n"):
            error = compiled(DAG_FILE, settings)["error"]
            self.assertEqual((error["path"], error["line"]), ("airflow_local_settings.py", 2))
            self.assertEqual(error["message"], "ValueError: broken")

    def test_the_task_itself_has_what_the_policies_gave_it(self) -> None:
        files = {"airflow_local_settings.py": SETTINGS}
        with Agent.ready(DAG_FILE, files=files) as agent:
            attempt = agent.run("big")
            self.assertEqual(attempt.result["state"], "success", attempt.text())
            self.assertIn("mutated big large", attempt.text())
            self.assertIn("policy heard of big", attempt.text())


PLUGIN = """
    from fastapi import APIRouter, FastAPI
    from flask_appbuilder import BaseView, expose
    from airflow.plugins_manager import AirflowPlugin

    app = FastAPI(title="x")

    @app.get("/hello")
    def hello(name: str = "x") -> dict[str, APIRouter]:
        return {}

    class View(BaseView):
        default_view = "all"
        @expose("/")
        def all(self): ...

    def shout(text):
        return text.upper()

    class Mine(AirflowPlugin):
        name = "mine"
        macros = [shout]
        fastapi_apps = [{"app": app, "url_prefix": "/x", "name": "x"}]
"""


class PluginsOfTheWebServer(unittest.TestCase):
    def test_a_plugin_that_imports_a_missing_web_package_keeps_its_macros_and_the_rest_is_named_once(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "plugins"))
            for name, content in (
                ("plugins/mine_plugin.py", PLUGIN),
                ("plugins/other_plugin.py", "import no_such_package  # a plugin\n"),
                (
                    "dag.py",
                    "from airflow.macros.mine import shout\nfrom airflow.sdk import DAG\ndag = DAG(shout('d'))\n",
                ),
            ):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(textwrap.dedent(content))
            answer = compile_path(os.path.join(folder, "dag.py"), folder)
        self.assertEqual([dag["dag_id"] for dag in answer["dags"]], ["D"], answer.get("error"))
        plugins = answer["dags"][0]["spec"]["plugins"]
        self.assertEqual([plugin["name"] for plugin in plugins["loaded"]], ["mine"])
        self.assertEqual([error["source"] for error in plugins["errors"]], ["$PLUGINS_FOLDER/other_plugin.py"])
        self.assertEqual(sum("fastapi_apps are not loaded" in warning for warning in answer["warnings"]), 1)
