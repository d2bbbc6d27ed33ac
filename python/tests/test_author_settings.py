"""Settings, macros and params that authors read and write: as in Airflow, or refused in words."""

from __future__ import annotations

import datetime
import enum
import os
import tempfile
import unittest
from unittest import mock

from svc_runtime.exceptions import AirflowConfigException
from svc_runtime.run import macros
from svc_runtime.run.conf import conf

from .support import compile_text

HEAD = (
    "import enum, uuid\nfrom datetime import date, datetime, timedelta\nfrom decimal import Decimal\n"
    "from airflow.sdk import DAG, Param\n"
)


class Level(enum.Enum):
    LOW = 1


class Settings(unittest.TestCase):
    def test_the_environment_wins_over_the_file_and_the_file_over_defaults(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "airflow.cfg"), "w", encoding="utf-8") as file:
                file.write(
                    "[core]\nparallelism = 7\nmax_active_runs_per_dag = 3\n[mine]\nnames = a, b ,c\npercent = 50%\n"
                )
            env = {"AIRFLOW_HOME": folder, "AIRFLOW__CORE__PARALLELISM": "9", "AIRFLOW__MINE__LEVEL": "LOW"}
            with mock.patch.dict(os.environ, env):
                self.assertEqual(conf.getint("core", "parallelism"), 9)
                self.assertEqual(conf.getint("core", "max_active_runs_per_dag"), 3)
                self.assertEqual(conf.getint("core", "max_active_tasks_per_dag"), 16)
                self.assertEqual(conf.getlist("mine", "names"), ["a", "b", "c"])
                self.assertEqual(conf.get("MINE", "Percent"), "50%")
                self.assertEqual(conf.getsection("mine"), {"level": "LOW", "names": "a, b ,c", "percent": "50%"})
                self.assertIs(conf.getenum("mine", "level", Level), Level.LOW)
        self.assertEqual(conf.getsection("mine"), {})

    def test_what_svc_knows_is_told(self) -> None:
        with mock.patch.dict(os.environ, {"SVC_DAGS_FOLDER": "/repo/dags"}):
            self.assertEqual(conf.get("core", "dags_folder"), "/repo/dags")
            self.assertEqual(conf.get("core", "plugins_folder"), "/repo/dags/plugins")
            self.assertEqual(conf.get("core", "executor"), "LocalExecutor")
            with mock.patch.dict(os.environ, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}):
                self.assertEqual(conf.get("core", "executor"), "KubernetesExecutor")

    def test_fallbacks_and_conversions_are_those_of_airflow(self) -> None:
        self.assertEqual(conf.get("nowhere", "nothing", fallback=None), None)
        self.assertEqual(conf.getint("nowhere", "nothing", fallback=3), 3)
        self.assertEqual(conf.getlist("nowhere", "nothing", fallback=["z"]), ["z"])
        self.assertIs(conf.getboolean("nowhere", "nothing", fallback=True), True)
        self.assertIsNone(conf.gettimedelta("nowhere", "nothing"))
        with self.assertRaisesRegex(AirflowConfigException, r"section/key \[nowhere/nothing\] not found in config"):
            conf.get("nowhere", "nothing")
        with mock.patch.dict(os.environ, {"AIRFLOW__MINE__N": "x", "AIRFLOW__MINE__WAIT": "90"}):
            self.assertEqual(conf.gettimedelta("mine", "wait"), datetime.timedelta(seconds=90))
            for read in (conf.getint, conf.getfloat, conf.getboolean):
                with self.assertRaisesRegex(AirflowConfigException, 'Please check "n" key in "mine" section'):
                    read("mine", "n")
        self.assertTrue(conf.has_option("core", "parallelism"))
        self.assertFalse(conf.has_option("core", "nothing"))

    def test_an_empty_value_is_no_json(self) -> None:
        with mock.patch.dict(os.environ, {"AIRFLOW__X__EMPTY": ""}):
            self.assertEqual(conf.getjson("x", "empty", fallback={}), {})
            self.assertIsNone(conf.getjson("x", "empty"))

    def test_secrets_of_a_control_plane_are_never_readable(self) -> None:
        env = {"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": "canary", "AIRFLOW__CORE__FERNET_KEY": "canary"}
        with mock.patch.dict(os.environ, env):
            for section, key in (("database", "sql_alchemy_conn"), ("core", "fernet_key"), ("api_auth", "jwt_secret")):
                with self.assertRaisesRegex(AirflowConfigException, "is a secret of the control plane"):
                    conf.get(section, key, fallback="x")
                self.assertFalse(conf.has_option(section, key))
            self.assertNotIn("canary", str({**conf.getsection("database"), **conf.getsection("core")}))


class Macros(unittest.TestCase):
    def test_they_are_all_there_and_mean_what_airflow_means(self) -> None:
        for name in "datetime timedelta dateutil json time uuid random ds_add ds_format".split():
            self.assertTrue(hasattr(macros, name), name)
        self.assertTrue(0 <= macros.random() < 1)
        self.assertEqual(macros.ds_add("2015-01-06", -5), "2015-01-01")
        self.assertEqual(macros.ds_format("1/5/2015", "%m/%d/%Y", "%Y-%m-%d"), "2015-01-05")
        self.assertIs(vars(macros)["datetime"], datetime.datetime)

    def test_dates_in_the_words_of_a_language(self) -> None:
        # What Airflow 3.2.2 with Babel answers.
        for arguments, expected in (
            (("12/07/2024", "%d/%m/%Y", "EEEE dd MMMM yyyy", "en_US"), "Friday 12 July 2024"),
            (("12/07/2024", "%d/%m/%Y", "EEEE d MMM yyyy", "de_DE"), "Freitag 12 Juli 2024"),
            (("2015-01-01", "%Y-%m-%d", "MM-dd-yy", "en_US"), "01-01-15"),
            (("2015-01-01", "%Y-%m-%d", "d 'of' MMMM", "fr"), "1 of janvier"),
        ):
            self.assertEqual(macros.ds_format_locale(*arguments), expected)
        with self.assertRaisesRegex(ValueError, "needs the package Babel"):
            macros.ds_format_locale("2015-01-01", "%Y-%m-%d", "QQQQ", "en_US")


class Params(unittest.TestCase):
    def _param(self, text: str) -> dict:
        answer = compile_text(f"{HEAD}d = DAG('d', params={{'p': {text}}})\n")
        self.assertTrue(answer["ok"], answer.get("error"))
        return answer["dags"][0]["spec"]["params"][0]

    def test_values_are_what_json_makes_of_them(self) -> None:
        for text, expected in (
            ("Param((1, 2))", [1, 2]),
            ("Param({1: 'x'})", {"1": "x"}),
            ("Param(enum.IntEnum('E', 'A').A)", 1),
            ("Param(2**60 + 1)", 2**60 + 1),
            ("Param(None, type=['null', 'string'])", None),
        ):
            self.assertEqual(self._param(text)["default"], expected, text)

    def test_schemas_may_be_written_with_more_than_json_has(self) -> None:
        for text, expected in (
            ("Param('a', enum=('a', 'b'))", {"enum": ["a", "b"]}),
            ("Param('b', enum={'b', 'a'})", {"enum": ["a", "b"]}),
            ("Param(1, enum=range(3))", {"enum": [0, 1, 2]}),
            ("Param('a', enum={'a': 1}.keys())", {"enum": ["a"]}),
            ("Param(1, enum=[1], values_display={1: 'one'})", {"enum": [1], "values_display": {"1": "one"}}),
            ("Param(1, custom_operator=len)", {"custom_operator": "builtins.len"}),
            ("Param(5, maximum=2**60 + 1)", {"maximum": 2**60 + 1}),
        ):
            self.assertEqual(self._param(text)["schema"], expected, text)

    def test_what_airflow_refuses_is_refused_at_its_line(self) -> None:
        values = [
            "{1}",
            "datetime(2026, 1, 1)",
            "date(2026, 1, 1)",
            "timedelta(1)",
            "b'x'",
            "Decimal(1)",
            "len",
            "object()",
        ]
        values += ["uuid.uuid4()", "{'a': [{1}]}", "enum.Enum('E', 'A').A", "float('nan')"]
        for value in [*values, *(f"Param({value})" for value in values), "Param(1, minimum=object())"]:
            answer = compile_text(f"{HEAD}d = DAG(\n    'd',\n    params={{'p': {value}}},\n)\n")
            self.assertFalse(answer["ok"], value)
            self.assertIn("not a JSON value", answer["error"]["message"], value)
            self.assertIn(answer["error"]["line"], (HEAD.count("\n") + 1, HEAD.count("\n") + 3), value)


if __name__ == "__main__":
    unittest.main()
