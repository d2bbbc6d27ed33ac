"""Plugins of authors: found beside the DAGs, used by files and tasks; what cannot be used is named."""

from __future__ import annotations

import os
import tempfile
import textwrap
import unittest

from .support import compile_path

PLUGIN = """
    from airflow.plugins_manager import AirflowPlugin
    from airflow.listeners import hookimpl
    from airflow.sdk import BaseOperatorLink
    from airflow.timetables.base import DagRunInfo, Timetable
    from datetime import timedelta

    def shout(text):
        return text.upper()

    class Docs(BaseOperatorLink):
        name = "Docs"
        def get_link(self, operator, *, ti_key):
            return "https://docs.example/" + ti_key.task_id

    class Hourly(Timetable):
        def next_dagrun_info(self, *, last_automated_data_interval, restriction):
            start = restriction.earliest if last_automated_data_interval is None else last_automated_data_interval.end
            return DagRunInfo.interval(start, start + timedelta(hours=1))

    class Ears:
        @hookimpl
        def on_task_instance_success(self, task_instance):
            print("heard", task_instance.task_id)
        @hookimpl
        def on_dag_run_failed(self, dag_run, msg):
            ...
        @hookimpl
        def before_stopping(self, component):
            ...
        @hookimpl
        def on_asset_created(self, asset):
            ...

    class Mine(AirflowPlugin):
        name = "mine"
        macros = [shout]
        timetables = [Hourly]
        listeners = [Ears()]
        global_operator_extra_links = [Docs()]
        flask_blueprints = [object()]
"""
DAG_FILE = """
    import pendulum
    from airflow.macros.mine import shout
    from airflow.sdk import DAG
    from airflow.providers.standard.operators.bash import BashOperator
    from mine_plugin import Hourly
    with DAG("d", schedule=Hourly(), start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=True):
        BashOperator(task_id="a", bash_command="echo {{ macros.mine.shout('x') }} " + shout("y"))
"""


class Plugins(unittest.TestCase):
    def _compile(self, files: dict) -> dict:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {"d.py": DAG_FILE, **files}.items():
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(textwrap.dedent(text))
            return compile_path(os.path.join(folder, "d.py"), folder)

    def test_their_parts_are_used_by_the_file_and_listed(self) -> None:
        answer = self._compile({"plugins/mine_plugin.py": PLUGIN})
        self.assertTrue(answer["ok"], answer.get("error"))
        spec = answer["dags"][0]["spec"]
        (plugin,) = spec["plugins"]["loaded"]
        self.assertEqual(plugin["name"], "mine")
        self.assertEqual(plugin["source"], "$PLUGINS_FOLDER/mine_plugin.py")
        self.assertEqual(plugin["macros"], ["mine_plugin.shout"])
        self.assertEqual(plugin["timetables"], ["mine_plugin.Hourly"])
        self.assertEqual(spec["schedule"]["class"], "mine_plugin.Hourly")
        self.assertEqual(spec["tasks"][0]["operator"]["extra_links"], ["Docs"])
        self.assertIn("plugins/mine_plugin.py", [module["path"] for module in spec["source"]["modules"]])

    def test_those_of_installed_packages_are_found_by_their_entry_points(self) -> None:
        package = {
            "garden.py": "from airflow.plugins_manager import AirflowPlugin\nclass Garden(AirflowPlugin):\n    name = 'garden'\n",
            "garden-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: garden\nVersion: 1.0\n",
        }
        plain = "from airflow.sdk import DAG\nwith DAG('d'):\n    pass\n"
        for points, found in (("[airflow.plugins]\ngarden = garden:Garden\n", ["garden"]), ("[others]\na = b\n", [])):
            files = {**package, "garden-1.0.dist-info/entry_points.txt": points, "d.py": plain}
            plugins = self._compile(files)["dags"][0]["spec"].get("plugins", {"loaded": []})
            self.assertEqual([plugin["name"] for plugin in plugins["loaded"]], found)

    def test_what_is_not_loaded_is_named(self) -> None:
        warnings = self._compile({"plugins/mine_plugin.py": PLUGIN})["warnings"]
        self.assertTrue(any("plugin mine: flask_blueprints are not loaded" in text for text in warnings), warnings)
        self.assertTrue(any("listeners on_asset_created are never called" in text for text in warnings), warnings)
        only_around = PLUGIN.replace("on_dag_run_failed", "on_starting")
        warnings = self._compile({"plugins/mine_plugin.py": only_around})["warnings"]
        silent = "listeners before_stopping, on_asset_created, on_starting are never called"
        self.assertTrue(any(silent in text for text in warnings), warnings)

    def test_the_spec_says_who_hears_of_runs(self) -> None:
        plugins = self._compile({"plugins/mine_plugin.py": PLUGIN})["dags"][0]["spec"]["plugins"]
        self.assertEqual(plugins["listens"], ["on_dag_run_failed"])
        deaf = PLUGIN.replace("on_dag_run_failed", "on_task_instance_failed")
        self.assertNotIn("listens", self._compile({"plugins/mine_plugin.py": deaf})["dags"][0]["spec"]["plugins"])

    def test_one_that_does_not_import_is_told_and_stops_nobody(self) -> None:
        files = {"plugins/mine_plugin.py": PLUGIN, "plugins/deep/broken.py": "# a plugin\nraise RuntimeError('no')\n"}
        answer = self._compile(files)
        self.assertTrue(answer["ok"], answer.get("error"))
        self.assertEqual(
            answer["dags"][0]["spec"]["plugins"]["errors"],
            [{"source": "$PLUGINS_FOLDER/deep/broken.py", "error": "RuntimeError: no"}],
        )
        told = "The plugin $PLUGINS_FOLDER/deep/broken.py is not there, with all that it would bring: RuntimeError: no"
        self.assertIn(told, answer["warnings"])

    def test_without_any_the_spec_says_nothing_of_them(self) -> None:
        plain = "from airflow.sdk import DAG\nwith DAG('d'):\n    pass\n"
        self.assertNotIn("plugins", self._compile({"d.py": plain})["dags"][0]["spec"])


if __name__ == "__main__":
    unittest.main()
