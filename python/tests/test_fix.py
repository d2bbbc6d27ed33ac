"""Old spellings are found at their line, rewritten without touching anything else, and left alone where that could mean
something else."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

from svc_runtime.fix.packages import outside_modules
from svc_runtime.fix.places import File
from svc_runtime.fix.rewrite import exported_names, rewrite_python, rewrite_template
from svc_runtime.fix.source import Source

from . import PYTHON, TESTS
from .support import compile_text


def fixed(text: str, exported: frozenset[str] | None = frozenset()) -> str:
    return rewrite_python(textwrap.dedent(text), exported).after


# name → before, after
REWRITES = {
    "a name that moved": (
        "from airflow.operators.bash_operator import BashOperator  # why\n",
        "from airflow.providers.standard.operators.bash import BashOperator  # why\n",
    ),
    "names that moved apart": (
        "from airflow.models import DAG, DagRun, Variable\n",
        "from airflow.sdk import DAG, Variable\nfrom airflow.models import DagRun\n",
    ),
    "comments inside a statement": (
        "from airflow.operators.python import (\n    PythonOperator,  # one\n    get_current_context,  # two\n)\n",
        (
            "from airflow.providers.standard.operators.python import (\n    PythonOperator,  # one\n)\n"
            "from airflow.sdk import (\n    get_current_context,  # two\n)\n"
        ),
    ),
    "a name that is called otherwise": (
        "from airflow.operators.dummy import DummyOperator\na = DummyOperator(task_id='a')\n",
        "from airflow.providers.standard.operators.empty import EmptyOperator\na = EmptyOperator(task_id='a')\n",
    ),
    "a new name that is taken": (
        "from airflow.datasets import Dataset\nAsset = 1\na = Dataset('x')\n",
        "from airflow.sdk import Asset as Dataset\nAsset = 1\na = Dataset('x')\n",
    ),
    "a name twice under one": (
        "from airflow.operators.dummy import DummyOperator, EmptyOperator\nDummyOperator, EmptyOperator\n",
        "from airflow.providers.standard.operators.empty import EmptyOperator\nEmptyOperator, EmptyOperator\n",
    ),
    "a module by another name": (
        "from airflow.operators import bash_operator\nbash_operator.BashOperator()\n",
        "from airflow.providers.standard.operators import bash as bash_operator\nbash_operator.BashOperator()\n",
    ),
    "a module by its path": (
        "import airflow.operators.dummy_operator\nairflow.operators.dummy_operator.DummyOperator(task_id='é')\n",
        (
            "import airflow.providers.standard.operators.empty\n"
            "airflow.providers.standard.operators.empty.EmptyOperator(task_id='é')\n"
        ),
    ),
    "an import with as": (
        "import airflow.hooks.base_hook as hooks\nhooks.BaseHook\n",
        "import airflow.sdk as hooks\nhooks.BaseHook\n",
    ),
    "arguments of a DAG": (
        "from airflow import DAG\nDAG('é', schedule_interval='@daily', concurrency=2, default_view='graph', orientation='LR')\n",
        "from airflow import DAG\nDAG('é', schedule='@daily', max_active_tasks=2)\n",
    ),
    "an argument on its own line": (
        "from airflow.sdk import dag\n@dag(\n    default_view='graph',  # first\n    timetable=None,\n)\ndef f(): ...\n",
        "from airflow.sdk import dag\n@dag(\n    # first\n    schedule=None,\n)\ndef f(): ...\n",
    ),
    "default_args": (
        "from airflow import DAG\nargs = {\n    'provide_context': True,\n    'task_concurrency': 1,\n}\nDAG('d', default_args=args)\n",
        "from airflow import DAG\nargs = {\n    'max_active_tis_per_dag': 1,\n}\nDAG('d', default_args=args)\n",
    ),
    "days_ago": (
        "from airflow.utils.dates import days_ago\na = days_ago(2)\nb = days_ago(n, hour=3)\n",
        'import pendulum\na = pendulum.today("UTC").add(days=-2)\nb = pendulum.today("UTC").add(days=-(n)).replace(hour=3)\n',
    ),
    "apply_defaults": (
        (
            "from airflow.models import BaseOperator\nfrom airflow.utils.decorators import apply_defaults\n"
            "class A(BaseOperator):\n    @apply_defaults\n    def __init__(self): ...\n"
        ),
        "from airflow.sdk import BaseOperator\nclass A(BaseOperator):\n    def __init__(self): ...\n",
    ),
    "variables": (
        "from airflow.models import Variable\nVariable.get('a', default_var=None)\n",
        "from airflow.sdk import Variable\nVariable.get('a', default=None)\n",
    ),
    "templates": (
        "import airflow\na = '{{ execution_date }} {{ tomorrow_ds }} {{ dag_run.execution_date }} execution_date'\n",
        "import airflow\na = '{{ logical_date }} {{ macros.ds_add(ds, 1) }} {{ dag_run.logical_date }} execution_date'\n",
    ),
    "a task function": (
        (
            "from airflow.sdk import task\n@task\ndef f(execution_date, **kwargs):\n"
            "    return execution_date, kwargs['prev_execution_date_success'], kwargs['dag_run'].execution_date\n"
        ),
        (
            "from airflow.sdk import task\n@task\ndef f(logical_date, **kwargs):\n"
            "    return logical_date, kwargs['prev_data_interval_start_success'], kwargs['dag_run'].logical_date\n"
        ),
    ),
    "a trigger rule": (
        "from airflow.operators.empty import EmptyOperator\nEmptyOperator(task_id='a', trigger_rule='none_failed_or_skipped')\n",
        (
            "from airflow.providers.standard.operators.empty import EmptyOperator\n"
            "EmptyOperator(task_id='a', trigger_rule='none_failed_min_one_success')\n"
        ),
    ),
    "a schedule of datasets": (
        "from airflow.timetables.datasets import DatasetOrTimeSchedule\nDatasetOrTimeSchedule(timetable=t, datasets=[])\n",
        "from airflow.timetables.assets import AssetOrTimeSchedule\nAssetOrTimeSchedule(timetable=t, assets=[])\n",
    ),
    "a class of a provider by its name before": (
        "from airflow.contrib.operators.gcs_to_bq import GoogleCloudStorageToBigQueryOperator\nGoogleCloudStorageToBigQueryOperator()\n",
        "from airflow.providers.google.cloud.transfers.gcs_to_bigquery import GCSToBigQueryOperator\nGCSToBigQueryOperator()\n",
    ),
}

# Left as they are: what they mean depends on something that is not in the text.
UNTOUCHED = {
    "one of two ways": "try:\n    from airflow.sdk import dag\nexcept ImportError:\n    from airflow.decorators import dag\n",
    "for type checkers": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from airflow.models import Variable\n",
    "for another version": "if AIRFLOW_V_2:\n    from airflow.decorators import task\n",
    "a star": "from airflow.models import *\n",
    "an author's own function": "import airflow\ndef make(schedule_interval): ...\nmake(schedule_interval='@daily')\n",
    "an author's own dict": "import airflow\nrow = read()\nprint(row['execution_date'])\n",
    "an argument the author gives": (
        "from airflow.sdk import task\n@task\ndef f(execution_date): ...\nf(execution_date=1)\n"
    ),
    "both spellings at once": "from airflow import DAG\nDAG('d', schedule=None, schedule_interval=None)\n",
    "a module for two": "from airflow.operators import python\npython.PythonOperator, python.get_current_context\n",
    "a docstring": '"""{{ execution_date }}"""\nimport airflow\n',
}

# text → part of the message, line
GONE = {
    "from airflow.operators.subdag import SubDagOperator\n": ("use a TaskGroup", 1),
    "from airflow.models import Log\n\ndef f(session):\n    session.query(Log)\n": ("REST API", 4),
    "from airflow.utils.session import provide_session\n@provide_session\ndef f(session=None): ...\n": ("database", 2),
    "from airflow import settings\ndef f():\n    settings.Session()\n": ("database", 3),
    "from airflow.models import DagRun as R\ndef f():\n    return R.find(dag_id='a')\n": ("dag_run of the context", 3),
    "from airflow.www import app\n": ("web server", 1),
    "from airflow.api.client.local_client import Client\n": ("REST API", 1),
    "from airflow.models import XCom\nXCom.get_many()\n": ("xcom_pull", 2),
}

ALLOWED = {
    "a hint": "from airflow.models import DagRun, TaskInstance\ndef f(run: DagRun, ti: TaskInstance) -> None: ...\n",
    "a comparison": "from airflow.models import DagRun\ndef f(x): return isinstance(x, DagRun)\n",
    "another version": (
        "try:\n    from airflow.utils.session import create_session\nexcept ImportError:\n    create_session = None\n"
        "def f():\n    if AIRFLOW_V_2:\n        create_session()\n"
    ),
}


class Rewriting(unittest.TestCase):
    def test_each_spelling(self) -> None:
        for name, (before, after) in REWRITES.items():
            with self.subTest(name):
                self.assertEqual(fixed(before), after)

    def test_what_cannot_be_known_stays(self) -> None:
        for name, text in UNTOUCHED.items():
            with self.subTest(name):
                self.assertEqual(fixed(text), text)

    def test_twice_changes_nothing_more(self) -> None:
        for name, (before, _) in REWRITES.items():
            with self.subTest(name):
                once = rewrite_python(before)
                self.assertEqual(fixed(once.after), once.after)
                self.assertEqual([finding.old for finding in once.left if finding.is_fixable], [])
                ast.parse(once.after)

    def test_line_ends_and_everything_else_stay(self) -> None:
        text = "# é\r\nfrom airflow.models import DAG, DagRun\r\n\r\nx = 'ünï'  \r\n"
        self.assertEqual(
            fixed(text),
            "# é\r\nfrom airflow.sdk import DAG\r\nfrom airflow.models import DagRun\r\n\r\nx = 'ünï'  \r\n",
        )

    def test_a_name_that_other_files_take_keeps_its_name(self) -> None:
        text = "from airflow.datasets import Dataset\nORDERS = Dataset('s3://orders')\n"
        exported = exported_names([text, "from common import Dataset\n"])
        self.assertEqual(
            fixed(text, exported),
            text.replace("from airflow.datasets import Dataset", "from airflow.sdk import Asset as Dataset"),
        )
        self.assertIsNone(exported_names(["from common import *\n"]))

    def test_f_strings(self) -> None:
        text = "from airflow.sdk import task\n@task\ndef f(execution_date):\n    return f'é {execution_date:%Y} {{}} {execution_date}'\n"
        self.assertEqual(fixed(text), text.replace("execution_date", "logical_date"))

    def test_template_files(self) -> None:
        done = rewrite_template("select '{{ execution_date }}', '{{ yesterday_ds }}'\nwhere d = '{{ next_ds }}'\n")
        self.assertEqual(
            done.after, "select '{{ logical_date }}', '{{ macros.ds_add(ds, -1) }}'\nwhere d = '{{ next_ds }}'\n"
        )
        self.assertEqual([(finding.line, finding.old) for finding in done.left], [(2, "{{ next_ds }}")])

    def test_the_same_specs_before_and_after(self) -> None:
        for folder, name in (("dags", "old_paths.py"), ("dags_own", "old_names.py"), ("dags", "real_legacy_style.py")):
            with open(os.path.join(TESTS, folder, name), encoding="utf-8") as file:
                before = file.read()
            after = fixed(before)
            self.assertNotEqual(before, after)
            self.assertEqual(self.specs(before), self.specs(after))

    def specs(self, text: str) -> list:
        answer = compile_text(text)
        self.assertTrue(answer["ok"], answer.get("error"))
        # Lines and the text itself are in the spec; everything else must be equal.
        return [_without_lines({**dag["spec"], "source": None}) for dag in answer["dags"]]


# A default argument that no task takes is only a note.
_NOT_COMPARED = ("line", "lineno", "provide_context")


def _without_lines(value):
    if isinstance(value, dict):
        return {name: _without_lines(item) for name, item in value.items() if name not in _NOT_COMPARED}
    return [_without_lines(item) for item in value] if isinstance(value, list) else value


class Refusing(unittest.TestCase):
    def test_uses_of_what_is_gone_are_refused_at_their_line(self) -> None:
        for text, (message, line) in GONE.items():
            with self.subTest(text):
                answer = compile_text(text)
                self.assertFalse(answer["ok"])
                self.assertEqual(answer["error"]["type"], "gone", answer["error"])
                self.assertIn(message, answer["error"]["instead"])
                self.assertEqual((answer["error"]["path"], answer["error"]["line"]), ("dag.py", line))

    def test_what_only_looks_like_it_is_not(self) -> None:
        for name, text in ALLOWED.items():
            with self.subTest(name):
                answer = compile_text(text)
                self.assertTrue(answer["ok"], answer.get("error"))


class Warning(unittest.TestCase):
    def warnings(self, text: str) -> list:
        answer = compile_text(textwrap.dedent(text))
        self.assertTrue(answer["ok"], answer.get("error"))
        return answer["warnings"]

    def test_names_file_line_and_the_new_spelling(self) -> None:
        found = self.warnings("""\
            from airflow import DAG
            from airflow.operators.bash_operator import BashOperator
            from airflow.operators.python import PythonOperator
            from airflow.contrib.operators.ssh_operator import SSHOperator

            options = {"schedule_interval": "@daily", "concurrency": 3, "fail_stop": True}
            with DAG("d", default_view="graph", **options) as dag:
                BashOperator(task_id="a", bash_command="echo {{ execution_date }}", task_concurrency=2)
                PythonOperator(task_id="b", python_callable=print, provide_context=True)
                SSHOperator(task_id="c", command="x", provide_context=True, sla=1)
                BashOperator.partial(task_id="m", task_concurrency=1).expand(bash_command=["a"])
            """)
        for line, old, new in (
            (2, "airflow.operators.bash_operator", "airflow.providers.standard.operators.bash"),
            (4, "airflow.contrib.operators.ssh_operator", "airflow.providers.ssh.operators.ssh"),
            (7, "schedule_interval=", "schedule="),
            (7, "concurrency=", "max_active_tasks="),
            (7, "fail_stop=", "fail_fast="),
            (7, "default_view=", "remove it"),
            (8, "execution_date", "logical_date"),
            (8, "task_concurrency=", "max_active_tis_per_dag="),
            (9, "provide_context=", "remove it"),
            (10, "sla=", "deadline="),
            (11, "task_concurrency=", "max_active_tis_per_dag="),
        ):
            self.assertTrue(
                any(text.startswith(f"dag.py:{line}: ") and old in text and new in text for text in found),
                f"{line} {old}: {found}",
            )

    def test_names_that_need_the_schedule_are_told(self) -> None:
        found = self.warnings("import airflow\na = 'x {{ next_ds }}'\n")
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("dag.py:2: {{ next_ds }} is gone: "), found)
        self.assertIn("data_interval_end", found[0])

    def test_old_arguments_have_their_effect(self) -> None:
        answer = compile_text(
            "from airflow import DAG\nfrom airflow.operators.bash import BashOperator\n"
            "with DAG('d', schedule_interval='@daily', concurrency=3, fail_stop=True, default_args={'task_concurrency': 5}):\n"
            "    BashOperator(task_id='a', bash_command='x', task_concurrency=2)\n"
            "    BashOperator(task_id='b', bash_command='x')\n"
        )
        spec = answer["dags"][0]["spec"]
        self.assertEqual((spec["dag"]["max_active_tasks"], spec["dag"]["fail_fast"]), (3, True))
        tasks = {task["task_id"]: json.dumps(task) for task in spec["tasks"]}
        self.assertIn('"max_active_tis_per_dag": 2', tasks["a"])
        self.assertIn('"max_active_tis_per_dag": 5', tasks["b"])

    def test_modules_of_the_project_are_looked_at_too(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (
                ("common.py", "\nfrom airflow.datasets import Dataset\n"),
                ("dag.py", "import common, airflow\n"),
            ):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            from .support import compile_path

            answer = compile_path(os.path.join(folder, "dag.py"), folder)
        self.assertTrue(answer["warnings"][0].startswith("common.py:2: from airflow.datasets import Dataset"), answer)


class Examples(unittest.TestCase):
    def test_settings_that_airflows_own_examples_read_while_they_load(self) -> None:
        answer = compile_text(
            "from airflow.configuration import conf\nconf.get('kubernetes_executor', 'WORKER_CONTAINER_REPOSITORY')\n"
        )
        self.assertTrue(answer["ok"], answer.get("error"))


class Program(unittest.TestCase):
    def test_one_line_per_file_and_nothing_is_run(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (
                ("a.py", "from airflow.decorators import task\nraise SystemExit(3)\n"),
                ("b.py", "from airflow import (\n"),
                ("latin.py", "# -*- coding: latin-1 -*-\n# \xe9\nfrom airflow.decorators import task\n"),
            ):
                with open(os.path.join(folder, name), "w", encoding="latin-1") as file:
                    file.write(text)
            request = {"root": folder, "files": ["a.py", "b.py", "latin.py", "none.py"], "write": True}
            os.chmod(os.path.join(folder, "a.py"), 0o754)
            run = subprocess.run(
                [sys.executable, "-m", "svc_runtime.fix"],
                input=json.dumps(request),
                cwd=PYTHON,
                capture_output=True,
                text=True,
            )
            written = {}
            for name in ("a.py", "latin.py"):
                with open(os.path.join(folder, name), encoding="latin-1") as file:
                    written[name] = file.read()
            mode = os.stat(os.path.join(folder, "a.py")).st_mode & 0o777
            self.assertEqual(sorted(os.listdir(folder)), ["a.py", "b.py", "latin.py"])
        self.assertEqual(run.returncode, 0, run.stderr)
        a, b, _, none = (json.loads(line) for line in run.stdout.splitlines())
        self.assertEqual((written["a.py"], mode), ("from airflow.sdk import task\nraise SystemExit(3)\n", 0o754))
        self.assertIn("+from airflow.sdk import task", a["diff"])
        self.assertIn("line 1", b["error"])
        self.assertIn("# \xe9\nfrom airflow.sdk", written["latin.py"])
        self.assertIn("cannot be read", none["error"])

    def test_says_what_the_files_need_from_outside(self) -> None:
        text = "import os, pandas as pd\nfrom common.x import y\nfrom airflow.providers.http.operators.http import HttpOperator\ndef f():\n    import yaml\n"
        modules = outside_modules(File(Source(text)), frozenset({"common"}))
        self.assertEqual(
            [(module["module"], module["line"], module["at_load"]) for module in modules],
            [("pandas", 1, True), ("airflow.providers.http.operators.http", 3, True), ("yaml", 5, False)],
        )


if __name__ == "__main__":
    unittest.main()
