"""Classes of authors that inherit timetables of partitions and assets: what they inherit answers as Airflow's does, and the compiler makes
of them what the control plane can go by."""

from __future__ import annotations

import importlib.util
import json
import os
import unittest

from svc_runtime.ask_mapper import answer_keys
from svc_runtime.ask_timetable import answer

from . import PYTHON
from .support import compile_text

ROOT = os.path.join(PYTHON, "..")
HEAD = (
    "import datetime, pendulum\nfrom airflow.sdk import DAG, Asset, CronPartitionTimetable, PartitionedAssetTimetable\n"
    "from airflow.partition_mappers.base import PartitionMapper\n"
    "from airflow.timetables.assets import AssetOrTimeSchedule\nfrom airflow.timetables.base import *\n"
    "from airflow.timetables.simple import AssetTriggeredTimetable\nfrom airflow.timetables.trigger import CronTriggerTimetable\n"
)
DAG = "d = DAG('d', schedule=timetable, start_date=pendulum.datetime(2026, 3, 27, tz='UTC'), catchup=True)\n"


def _recording():
    path = os.path.join(ROOT, "scripts", "golden", "inherited_timetables.py")
    spec = importlib.util.spec_from_file_location("inherited_timetables", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RECORDING = _recording()


def _schedule(code: str) -> dict:
    answered = compile_text(RECORDING.HEAD + "import pendulum\nfrom airflow.sdk import DAG\n" + code + DAG)
    assert answered["ok"], answered["error"]
    return answered["dags"][0]["spec"]["schedule"]


class Inherited(unittest.TestCase):
    def test_what_is_inherited_answers_as_airflow_does(self) -> None:
        with open(
            os.path.join(ROOT, "packages", "spec", "timetables", "partitions-golden.json"), encoding="utf8"
        ) as file:
            golden = json.load(file)["inherited"]
        self.assertEqual(set(golden), set(RECORDING.CLASSES))
        for name, code in RECORDING.CLASSES.items():
            with self.subTest(name):
                self.assertEqual(RECORDING.answers(code), golden[name])


class Compiled(unittest.TestCase):
    def test_runs_of_partitions_have_a_key_and_no_dates(self) -> None:
        schedule = _schedule(RECORDING.CLASSES["partitions of working days"])
        self.assertEqual((schedule["type"], schedule["partitioned"]), ("custom", True))
        self.assertEqual((schedule["summary"], schedule["description"]), ("0 3 * * * on working days", "At 03:00"))
        self.assertEqual(
            schedule["table"]["runs"][1],
            {
                **dict.fromkeys(("start", "end", "run_after"), "2026-03-28T02:00:00+00:00"),
                "undated": True,
                "partition_date": "2026-03-27T02:00:00+00:00",
                "partition_key": "2026-03-27",
            },
        )

    def test_a_schedule_by_assets_with_runs_by_time_of_its_own_is_one_by_assets_or_time(self) -> None:
        schedule = _schedule(RECORDING.CLASSES["assets, or time without the first of the month"])
        self.assertEqual((schedule["type"], schedule["timetable"]["type"]), ("asset_or_time", "custom"))
        self.assertEqual(schedule["summary"], "not the first: Asset or 0 0 * * *")
        self.assertEqual(schedule["timetable"]["class"], "dag.NotFirst")
        starts = [run["start"][:10] for run in schedule["timetable"]["table"]["runs"]]
        self.assertNotIn("2026-04-01", starts)
        hourly = _schedule(RECORDING.CLASSES["assets, and runs by time of its own"])
        self.assertEqual((hourly["type"], len(hourly["timetable"]["table"]["runs"])), ("asset_or_time", 100))

    def test_a_class_that_only_says_what_it_is_called_is_not_asked(self) -> None:
        code = (
            "class Words(AssetTriggeredTimetable):\n    @property\n    def summary(self):\n"
            "        return super().summary + '!'\ntimetable = Words(both)\n"
        )
        self.assertEqual(_schedule(code)["type"], "asset")
        self.assertEqual(_schedule(code)["summary"], "Asset!")
        described = (
            "class Told(CronTriggerTimetable):\n    def __init__(self):\n        super().__init__('@daily', timezone='UTC')\n"
            "        self.description += ', told'\ntimetable = Told()\n"
        )
        self.assertEqual(_schedule(described)["description"], "At 00:00, told")

    def test_mappers_that_the_class_chooses_are_known_when_it_is_compiled(self) -> None:
        code = RECORDING.CLASSES["partitions of assets, by a mapper for each"]
        schedule = _schedule(code)
        self.assertEqual(schedule["summary"], "Partitioned Asset of mine")
        named = [(entry["asset"]["name"], entry["mapper"]["class"]) for entry in schedule["mappers"]]
        self.assertEqual(named, [("a", "dag.Suffix"), ("b", "dag.Suffix")])
        names: dict = {"__name__": "mine"}
        exec(RECORDING.HEAD + code, names)
        asked = {"keys": [{"mapper": place, "key": "k"} for place in (0, 1, -1)]}
        found = [one["keys"] for one in answer_keys(names["timetable"], asked)["keys"]]
        self.assertEqual(found, [["k-a"], ["k-else"], ["k-else"]])

    def test_what_is_never_asked_is_refused(self) -> None:
        named = "class Mine(AssetOrTimeSchedule):\n    def generate_run_id(self, **facts):\n        return 'x'\n"
        time = "CronTriggerTimetable('@daily', timezone='UTC')"
        partitioned = "class Mine(PartitionedAssetTimetable):\n"
        for code, part in (
            (
                named + f"timetable = Mine(timetable={time}, assets=[Asset('a')])\n",
                "Mine has its own generate_run_id, and a schedule by assets is not asked for that",
            ),
            (
                partitioned + "    periodic = True\ntimetable = Mine(assets=Asset('a'))\n",
                "Mine has its own periodic",
            ),
            (
                partitioned + "    def next_dagrun_info(self, *, restriction, **_):\n"
                "        return DagRunInfo.exact(restriction.earliest)\ntimetable = Mine(assets=Asset('a'))\n",
                "Mine gives runs by time, and a schedule by partitions of assets has none",
            ),
            (
                (
                    "class Mine(CronPartitionTimetable):\n    def next_dagrun_info_v2(self, **question):\n"
                    "        return super().next_dagrun_info_v2(**question)._replace(partition_key=None)\n"
                    "timetable = Mine('@daily', timezone='UTC')\n"
                ),
                "which is not a DagRunInfo with run_after and partition_key",
            ),
            (
                (
                    "class Mine(Timetable):\n    def next_dagrun_info_v2(self, *, restriction, **_):\n"
                    "        return DagRunInfo(restriction.earliest, None, restriction.earliest, 'k')\ntimetable = Mine()\n"
                ),
                "which is not a DagRunInfo with run_after and data_interval",
            ),
            (
                (
                    "class Mine(CronPartitionTimetable):\n    def next_dagrun_info_v2(self, *, restriction, last_dagrun_info):\n"
                    "        back = datetime.timedelta(days=1) if last_dagrun_info else datetime.timedelta(0)\n"
                    "        info = super().next_dagrun_info_v2(last_dagrun_info=None, restriction=restriction)\n"
                    "        return info._replace(run_after=info.run_after - back)\n"
                    "timetable = Mine('@daily', timezone='UTC')\n"
                ),
                "gave the partition 2026-03-27T00:00:00 of 2026-03-26T00:00:00+00:00 after one of 2026-03-27T00:00:00+00:00",
            ),
        ):
            with self.subTest(part):
                self.assertIn(part, compile_text(HEAD + code + DAG)["error"]["message"])

    def test_a_worker_goes_on_from_the_last_partition(self) -> None:
        names: dict = {"__name__": "mine"}
        exec(RECORDING.HEAD + RECORDING.CLASSES["keys of its own"], names)
        at = "2026-04-01T00:00:00+00:00"
        last = {"start": at, "end": at, "partition_key": "xyz", "partition_date": at}
        found = answer(names["timetable"], {"kind": "runs", "last": last, "catchup": True, "count": 2})
        self.assertEqual([run["partition_key"] for run in found["runs"]], ["xyz-092", "xyz-093"])
        self.assertEqual(found["after"], {"start": at, "end": at})
        self.assertRegex(
            found["runs"][0]["run_id"], r"^own-xyz-092-scheduled__2026-04-02T00:00:00\+00:00__xyz-092__\w{8}$"
        )


if __name__ == "__main__":
    unittest.main()
