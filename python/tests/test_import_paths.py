"""Every path and name in the table can be imported, and what Airflow exports is there."""

from __future__ import annotations

import importlib
import subprocess
import sys
import unittest

import airflow
from svc_runtime.exceptions import RecordingError
from svc_runtime.import_paths import MODULES
from svc_runtime.old_import_paths import GONE, GONE_NAMES, moved
from svc_runtime.record import provider_stubs
from svc_runtime.refused_modules import REFUSED

from . import PYTHON

# The public names of airflow.sdk 1.2 (Airflow 3.2).
SDK = """AllowedKeyMapper Asset AssetAlias AssetAll AssetAny AssetOrTimeSchedule AssetWatcher AsyncCallback BaseAsyncOperator
BaseBranchOperator BaseHook BaseNotifier BaseOperator BaseOperatorLink BaseSensorOperator BaseXCom BranchMixIn ChainMapper
Connection Context CronDataIntervalTimetable CronPartitionTimetable CronTriggerTimetable DAG DagRunState DeadlineAlert
DeadlineReference DeltaDataIntervalTimetable DeltaTriggerTimetable EdgeModifier EventsTimetable IdentityMapper Label Metadata
MultipleCronTriggerTimetable ObjectStoragePath Param ParamsDict PartitionMapper PartitionedAssetTimetable PokeReturnValue
ProductMapper SkipMixin StartOfDayMapper StartOfHourMapper StartOfMonthMapper StartOfQuarterMapper StartOfWeekMapper
StartOfYearMapper SyncCallback TaskGroup TaskInstance TaskInstanceState TriggerRule Variable WeightRule XComArg __version__ asset
chain chain_linear conf cross_downstream dag get_current_context get_parsing_context literal macros setup task task_group
teardown""".split()


class Paths(unittest.TestCase):
    def test_every_name_of_every_path_loads(self) -> None:
        provider_stubs.install()
        for path, entry in MODULES.items():
            module = importlib.import_module(path)
            for name in [] if entry.startswith("=") else entry.split():
                with self.subTest(f"{path}.{name}"):
                    self.assertIsNotNone(getattr(module, name))

    def test_airflow_sdk_has_every_public_name(self) -> None:
        sdk = importlib.import_module("airflow.sdk")
        self.assertEqual([name for name in SDK if not hasattr(sdk, name)], [])

    def test_one_class_behind_all_its_paths(self) -> None:
        from airflow import DAG as dag_1
        from airflow.models.dag import DAG as dag_2
        from airflow.operators.bash import BashOperator as old
        from airflow.operators.bash_operator import BashOperator as older
        from airflow.providers.standard.operators.bash import BashOperator as current
        from airflow.sdk import DAG as dag_3

        self.assertTrue(old is older is current)
        self.assertTrue(dag_1 is dag_2 is dag_3)
        self.assertEqual(current.__module__, "airflow.providers.standard.operators.bash")

    def test_paths_that_are_gone_say_what_to_write(self) -> None:
        for path in GONE.keys() - REFUSED.keys() - {"airflow.contrib"}:  # some of it moved, and the package leads there
            with self.assertRaisesRegex(ModuleNotFoundError, "use|import|part of"):
                importlib.import_module(path)

    def test_an_old_path_loads_what_the_present_one_does(self) -> None:
        provider_stubs.install()
        for old, names in moved().items():
            for name, path in names.items():
                # Of a module that moved whole, and of renamed provider classes, there is nothing to compare.
                if name == "*" or old.startswith("airflow.providers.") or name == "DatasetOrTimeSchedule":
                    continue
                with self.subTest(f"{old}.{name}"):
                    home, _, present = path.rpartition(".")
                    loaded = getattr(importlib.import_module(old), name)
                    self.assertIs(loaded, getattr(importlib.import_module(home), present))

    def test_what_is_gone_may_be_named_and_not_used(self) -> None:
        for path in GONE_NAMES:
            module, _, name = path.rpartition(".")
            if module in GONE or module.startswith("airflow.providers."):
                continue
            with self.subTest(path):
                gone = getattr(importlib.import_module(module), name)
                if not isinstance(gone, type) or hasattr(importlib.import_module(module), "__all__"):
                    continue  # has a stand-in of its own
                with self.assertRaises(RecordingError):
                    gone()

    def test_unknown_names_fail_like_any_module(self) -> None:
        with self.assertRaises(ImportError):
            exec("from airflow.sdk import Nonsense")
        with self.assertRaises(ModuleNotFoundError):
            importlib.import_module("airflow.nonsense")

    def test_importing_airflow_stays_light(self) -> None:
        code = (
            "import sys, airflow; from airflow.sdk import DAG, task, Asset; from airflow.operators.bash import BashOperator\n"
            "print([name for name in ('pendulum', 'jinja2', 'asyncio', 'dateutil') if name in sys.modules])"
        )
        result = subprocess.run([sys.executable, "-c", code], cwd=PYTHON, capture_output=True, text=True, check=True)
        self.assertEqual(result.stdout.strip(), "[]")

    def test_the_base_exception_is_also_offered_by_the_package_itself(self) -> None:

        from svc_runtime.exceptions import AirflowException

        self.assertIs(airflow.AirflowException, AirflowException)


if __name__ == "__main__":
    unittest.main()
