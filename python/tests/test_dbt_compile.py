"""dbt groups while a file is compiled: with a manifest that was recorded, and with a program that stands for dbt's Python."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import textwrap
import unittest

from svc_runtime.compile.kept import Kept

from . import TESTS
from .run_agent import Agent
from .support import make_server

HEAD = "from airflow.sdk import DAG, task\nfrom svc import dbt_asset, dbt_group\n"


class Workspace:
    """A folder with a dbt project in `shop`, and a file beside it."""

    def __init__(self, test: unittest.TestCase) -> None:
        self.folder = tempfile.mkdtemp(prefix="svc-dbt-test-")
        test.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o755)
        self.write("shop/dbt_project.yml", "name: rich\nprofile: rich\n")
        shutil.copy(os.path.join(TESTS, "dbt_manifest.json"), os.path.join(self.folder, "shop", "manifest.json"))
        self.server = make_server()

    def write(self, name: str, text: str) -> str:
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))
        return path

    def compile(self, text: str | None, groups: dict | None = None) -> dict:
        path = os.path.join(self.folder, "dag.py")
        if text is not None:
            self.write("dag.py", text)
        self.server.submit({"id": 1, "path": path, "dags_folder": self.folder, "groups": groups})
        while not (answers := self.server.step()):
            pass
        return json.loads(answers[0])

    def spec(self, text: str | None, groups: dict | None = None) -> dict:
        answer = self.compile(text, groups)
        assert answer["ok"], answer["error"]
        return answer["dags"][0]["spec"]

    def dbt(self) -> str:
        """A program in place of an interpreter with dbt: answers with the recorded graph and writes down that it was asked."""
        with open(os.path.join(TESTS, "dbt_manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        from svc_runtime.dbt.graph import compact

        answer = {"ok": True, "graph": compact(manifest, selected=list(manifest["nodes"]), project_hash="h")}
        stored = self.write("answer.json", json.dumps(answer))
        self.asked = self.write("asked.txt", "")
        os.chmod(self.asked, 0o666)
        path = self.write("python", f'#!/bin/sh\necho asked >> {self.asked}\ncp {stored} "$4"\n')
        os.chmod(path, 0o755)
        return path

    def times_asked(self) -> int:
        with open(self.asked, encoding="utf-8") as file:
            return len(file.readlines())


GROUP = 'with DAG("d", schedule=None):\n    dbt_group("shop", "shop", manifest="manifest.json", conn_id="warehouse"{more})\n'


def group(**more) -> str:
    return HEAD + GROUP.format(more="".join(f", {name}={value!r}" for name, value in more.items()))


class Compiled(unittest.TestCase):
    def setUp(self) -> None:
        self.workspace = Workspace(self)

    def test_tasks_edges_outlets_and_what_a_version_needs(self) -> None:
        spec = self.workspace.spec(group())
        tasks = {task["task_id"]: task for task in spec["tasks"]}
        report = tasks["shop.report.run"]
        self.assertEqual(report["arguments"]["select"], ["fqn:rich.marts.report"])
        self.assertEqual(report["arguments"]["command"], "run")
        self.assertEqual([outlet["uri"] for outlet in report["outlets"]], ["dbt://rich/report"])
        self.assertIn("shop.stg_people.test", report["upstream_task_ids"])
        self.assertEqual(spec["secrets"]["connections"], ["warehouse"])
        self.assertEqual([one["path"] for one in spec["files"]], ["dbt-graph/d/shop.json"])
        self.assertEqual([one.get("project_dir") for one in spec["groups"]][:2], [None, "shop"])

    def test_operator_arguments_reach_every_task(self) -> None:
        spec = self.workspace.spec(group(granularity="level", operator_args={"retries": 3, "pool": "dbt"}))
        self.assertEqual({(task["policy"]["retries"], task["policy"]["pool"]) for task in spec["tasks"]}, {(3, "dbt")})

    def test_other_dags_wait_for_models(self) -> None:
        text = HEAD + 'with DAG("after", schedule=[dbt_asset("rich", "report")]):\n    pass\n'
        self.assertEqual(self.workspace.spec(text)["assets"]["assets"][0]["uri"], "dbt://rich/report")

    def test_the_version_runs_from_the_graph_it_was_made_with(self) -> None:
        """Tasks are found without dbt, and without the manifest being there any more."""
        spec = self.workspace.spec(group())
        files = {one["path"]: one["text"] for one in spec["files"]}
        project = {"shop/dbt_project.yml": "name: rich\n"}
        text = group().replace(', manifest="manifest.json"', "")
        settings = {"TMPDIR": tempfile.mkdtemp(dir=self.workspace.folder)}

        def folders() -> list:
            return [name for name in os.listdir(settings["TMPDIR"]) if name.startswith("svc-dbt-")]

        with Agent(text, files=project, version_files=files, settings=settings) as agent:
            self.assertEqual(agent.loaded["event"], "ready", agent.loaded)
            attempt = agent.run("shop.report.run")
            self.assertEqual(attempt.result["state"], "failed")
            self.assertIn("dbt is not installed where the task runs", attempt.result["failure"]["text"])
            self.assertEqual(len(folders()), 1)  # for what its tasks parse
        self.assertEqual(folders(), [])

    def test_dbt_is_asked_once_for_the_same_content(self) -> None:
        python = self.workspace.dbt()
        text = group(python=python).replace(', manifest="manifest.json"', "")
        first = self.workspace.spec(text)
        again = self.workspace.spec(text + "# changed\n")
        self.assertEqual(first["tasks"], again["tasks"])
        self.assertEqual(self.workspace.times_asked(), 1)
        self.workspace.write("shop/models/new.sql", "select 1\n")
        self.workspace.spec(text)
        self.assertEqual(self.workspace.times_asked(), 2)

    def test_another_process_has_what_was_kept(self) -> None:
        folder = os.path.join(self.workspace.folder, "kept")
        text = group(python=self.workspace.dbt()).replace(', manifest="manifest.json"', "")
        for _ in range(2):
            self.workspace.server = make_server(kept=Kept(folder))
            self.workspace.spec(text)
        self.assertEqual(self.workspace.times_asked(), 1)
        self.workspace.server = make_server(kept=Kept(folder))
        self.workspace.spec(HEAD + 'with DAG("d"):\n    pass\n')
        self.assertEqual(os.listdir(folder), [])


class Secrets(unittest.TestCase):
    def test_a_profile_is_in_memory_and_not_on_the_disk(self) -> None:
        from svc_runtime.dbt.operator import _put_secret

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "profiles.yml")
            _put_secret(path, "secret")
            for _ in range(2):
                with open(path, encoding="utf-8") as file:
                    self.assertEqual(file.read(), "secret")
            self.assertTrue(os.path.islink(path))


class Refused(unittest.TestCase):
    def refused(self, text: str, message: str, line: int) -> dict:
        answer = Workspace(self).compile(text)
        self.assertFalse(answer["ok"])
        self.assertRegex(answer["error"]["message"], message)
        self.assertEqual(answer["error"]["line"], line)
        return answer["error"]

    def test_at_its_line_with_what_to_write(self) -> None:
        inside = HEAD + 'with DAG("d"):\n    dbt_group("x", {})\n'
        error = self.refused(inside.format('"shop"'), "dbt is not installed where DAG files are compiled", 4)
        self.assertRegex(error["instead"], "dependencies in svc.yaml or to requirements.txt")
        self.refused(inside.format('"nowhere"'), "there is no dbt project in nowhere: dbt_project.yml", 4)
        self.refused(HEAD + 'dbt_group("x", "shop")\n', "outside of a DAG", 3)
        self.refused(group(select="a b"), "manifest= cannot have select", 4)
        self.refused(group(select=["--exclude"]), "is no selection", 4)
        self.refused(group(retry="some"), "retry is 'some'", 4)
        self.refused(group(granularity="models"), "granularity is 'models'", 4)


class FromYaml(unittest.TestCase):
    def groups(self, **more) -> dict:
        settings = {
            "key": "dbt",
            "arguments": {"project_dir": "shop", "manifest": "manifest.json", "granularity": "level"},
        }
        return {"dag_id": "d", "schedule": None, "groups": {"dbt": {**settings, **more}}}

    def test_a_dag_without_a_file(self) -> None:
        spec = Workspace(self).spec(None, {**self.groups(), "schedule": "@daily"})
        self.assertEqual([task["task_id"] for task in spec["tasks"]][:2], ["dbt.level_1", "dbt.level_2"])
        self.assertIn("make_dag", spec["source"]["text"])
        self.assertNotEqual(spec["schedule"]["type"], "NullTimetable")

    def test_groups_of_a_file_and_their_place_in_it(self) -> None:
        text = (
            HEAD
            + 'with DAG("d"):\n    @task\n    def before(): ...\n    @task\n    def after(): ...\n    before()\n    after()\n'
        )
        spec = Workspace(self).spec(text, self.groups(upstream=["before"], downstream=["after"]))
        tasks = {task["task_id"]: task for task in spec["tasks"]}
        self.assertEqual(tasks["dbt.level_1"]["upstream_task_ids"], ["before"])
        self.assertEqual(tasks["after"]["upstream_task_ids"], ["dbt.level_4"])
        self.assertTrue(spec["source"]["text"].startswith(text))

    def test_problems_begin_with_the_key_they_are_about(self) -> None:
        two = 'from airflow.sdk import DAG\nwith DAG("a"):\n    pass\nwith DAG("b"):\n    pass\n'
        one = 'from airflow.sdk import DAG\nwith DAG("d"):\n    pass\n'
        for text, groups, message in (
            (two, self.groups(), "^dbt: the file defines 2 DAGs, and none of them is 'd'"),
            (one, self.groups(upstream=["x"]), r"^dbt.upstream: the DAG has no task 'x'"),
            (one, {**self.groups(), "schedule": "@daily"}, "^dbt: schedule is for a project without a DAG file"),
            (None, self.groups(arguments={"project_dir": "nowhere"}), "^dbt: there is no dbt project in nowhere"),
        ):
            answer = Workspace(self).compile(text, groups)
            self.assertRegex((answer.get("error") or {}).get("message", "compiled"), message)


COSMOS = """
from datetime import datetime
from cosmos import DbtDag, DbtTaskGroup, ExecutionConfig, ProfileConfig, ProjectConfig, RenderConfig
from cosmos.constants import ExecutionMode, TestBehavior
from cosmos.profiles import PostgresUserPasswordProfileMapping
profile = ProfileConfig(
    profile_name="rich", target_name="dev",
    profile_mapping=PostgresUserPasswordProfileMapping(conn_id="warehouse", profile_args={"schema": "public"}),
)
project = ProjectConfig("shop", manifest_path="manifest.json")
"""


class Cosmos(unittest.TestCase):
    def test_a_dag_of_a_project(self) -> None:
        text = COSMOS + (
            'DbtDag(dag_id="d", project_config=project, profile_config=profile, schedule="@daily", start_date=datetime(2024, 1, 1),\n'
            '       operator_args={"install_deps": True, "full_refresh": True, "retries": 2})\n'
        )
        spec = Workspace(self).spec(text)
        report = next(task for task in spec["tasks"] if task["task_id"] == "report.run")
        self.assertEqual(report["arguments"]["conn_id"], "warehouse")
        self.assertEqual(report["arguments"]["target"], "dev")
        self.assertIs(report["arguments"]["full_refresh"], True)
        self.assertEqual(report["policy"]["retries"], 2)

    def test_a_group_between_other_tasks(self) -> None:
        text = COSMOS + (
            "from airflow.sdk import DAG\nfrom airflow.providers.standard.operators.empty import EmptyOperator\n"
            'with DAG("d"):\n    group = DbtTaskGroup(group_id="g", project_config=project, profile_config=profile,\n'
            "        render_config=RenderConfig(test_behavior=TestBehavior.NONE, emit_datasets=False))\n"
            '    EmptyOperator(task_id="before") >> group\n'
        )
        tasks = {task["task_id"]: task for task in Workspace(self).spec(text)["tasks"]}
        self.assertEqual(tasks["g.people_seed"]["upstream_task_ids"], ["before"])
        self.assertEqual(tasks["g.people_seed"]["outlets"], [])

    def test_what_has_no_meaning_here_is_refused_at_its_line(self) -> None:
        for line, message in (
            ("ExecutionConfig(execution_mode=ExecutionMode.KUBERNETES)", "execution_mode='kubernetes'"),
            ("RenderConfig(node_converters={'x': 1})", r"RenderConfig\(node_converters=…\)"),
            ("from cosmos import DbtRunLocalOperator", "DbtRunLocalOperator of astronomer-cosmos is not supported"),
            ("from cosmos.profiles import TrinoLDAPProfileMapping", "TrinoLDAPProfileMapping"),
            ("ProfileConfig('a', 'b')", "either profiles_yml_filepath or profile_mapping"),
            ("DbtDag(dag_id='d')", "no dbt project is named"),
        ):
            answer = Workspace(self).compile(COSMOS + line + "\n")
            self.assertRegex((answer.get("error") or {}).get("message", "compiled"), message)
            self.assertEqual(answer["error"]["line"], COSMOS.count("\n") + 1, line)
