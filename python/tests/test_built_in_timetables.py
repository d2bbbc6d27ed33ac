"""What an author's subclass gets from the built-in timetable it inherits: Airflow's own answers, as the scheduler's engine is held to them
(packages/spec/timetables/golden.test.ts)."""

from __future__ import annotations

import datetime
import json
import os
import unittest
from unittest import mock

from svc_runtime.exceptions import AirflowTimetableInvalid
from svc_runtime.record import timetables as tt
from svc_runtime.record.built_in_timetables import runs
from svc_runtime.record.timetable_base import DataInterval, TimeRestriction

from .nightly import IS_NIGHTLY, is_chosen
from .support import compile_text

UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)
GOLDEN = os.path.join(os.path.dirname(__file__), "..", "..", "packages", "spec", "timetables", "golden")
CHAIN = 12
NOT_ASKED = ("null", "asset", "custom", "cron_partition", "partitioned_asset", "asset_or_time")
# Clocks there changed their rules in 2026: not every machine knows.
RULES_DIFFER = ("Africa/Casablanca", "Africa/El_Aaiun")


MICROS = 1_000_000


def at(seconds):
    return None if seconds is None else after(round(seconds * MICROS))


def after(micros: int):
    return EPOCH + datetime.timedelta(microseconds=micros)


def delta(spec: dict | None):
    if spec is None:
        return datetime.timedelta(0)
    spec = dict(spec)
    if spec.pop("kind") == "timedelta":
        return datetime.timedelta(**spec)
    from dateutil import relativedelta

    if "weekday" in spec:
        spec["weekday"] = relativedelta.weekday(*spec["weekday"])
    return relativedelta.relativedelta(**spec)


def make(t: dict):
    kind = t["type"]
    immediately = t.get("run_immediately", False)
    immediately = delta(immediately) if isinstance(immediately, dict) else immediately
    triggers = {"interval": delta(t.get("interval")), "run_immediately": immediately}
    if kind == "cron_data_interval":
        return tt.CronDataIntervalTimetable(t["expression"], t["timezone"])
    if kind == "cron_trigger":
        return tt.CronTriggerTimetable(t["expression"], t["timezone"], **triggers)
    if kind == "multiple_cron_trigger":
        return tt.MultipleCronTriggerTimetable(*t["expressions"], timezone=t["timezone"], **triggers)
    if kind == "delta_data_interval":
        return tt.DeltaDataIntervalTimetable(delta(t["delta"]))
    if kind == "delta_trigger":
        return tt.DeltaTriggerTimetable(delta(t["delta"]), interval=delta(t.get("interval")))
    if kind == "events":
        dates = [datetime.datetime.fromisoformat(text) for text in t["event_dates"]]
        return tt.EventsTimetable(
            dates, restrict_to_events=t.get("restrict_to_events", False), presorted=t.get("presorted", False)
        )
    return {"once": tt.OnceTimetable, "continuous": tt.ContinuousTimetable}[kind]()


def expected(case: dict) -> list:
    found: list = []
    before = 0
    for index, step in enumerate(case["end"]):
        before += round(step * MICROS)
        width = case["width"] if not isinstance(case["width"], list) else case["width"][index]
        found.append((after(before - round(width * MICROS)), after(before)))
    return found


class Golden(unittest.TestCase):
    def _chain(self, case: dict) -> list:
        timetable = make(case["t"])
        last = DataInterval(at(case["last"][0]), at(case["last"][1])) if "last" in case else None
        restriction = TimeRestriction(earliest=at(case["from"]), latest=at(case["to"]), catchup=case["catchup"])
        found: list = []
        with mock.patch.object(runs, "clock", lambda: at(case["now"])):
            while len(found) < case.get("asked", CHAIN):
                info = timetable.next_dagrun_info(last_automated_data_interval=last, restriction=restriction)
                if info is None:
                    break
                last = info.data_interval
                found.append((last.start, last.end))
        return found

    def _manual(self, case: dict) -> None:
        timetable = make(case["t"])
        for moment, interval in zip(case["manual"], case["intervals"], strict=True):
            if interval is not None:
                found = timetable.infer_manual_data_interval(run_after=at(moment))
                self.assertEqual((found.start, found.end), (at(interval[0]), at(interval[1])))

    def test_answers_are_those_of_airflow(self) -> None:
        compared = 0
        for name in sorted(os.listdir(GOLDEN)):
            with open(os.path.join(GOLDEN, name), encoding="utf-8") as file:
                cases = json.load(file)
            for index, case in enumerate(cases):
                if case["t"]["type"] in NOT_ASKED or case["t"].get("timezone") in RULES_DIFFER:
                    continue
                if not is_chosen(index):
                    continue
                with self.subTest(name=name, case=case):
                    if "invalid" in case:
                        with self.assertRaises((AirflowTimetableInvalid, KeyError, ValueError)):
                            make(case["t"]).infer_manual_data_interval(run_after=EPOCH)
                    elif "manual" in case:
                        self._manual(case)
                    elif "now" in case and "backfill" not in case and "raises" not in case:
                        self.assertEqual(self._chain(case), expected(case))
                    else:
                        continue
                    compared += 1
        self.assertGreater(compared, 3000 if IS_NIGHTLY else 300)

    def test_summaries_and_descriptions_are_those_of_airflow(self) -> None:
        with open(os.path.join(GOLDEN, "texts.json"), encoding="utf-8") as file:
            for case in json.load(file):
                if case["summary"].startswith("-"):  # such a delta is refused
                    continue
                with self.subTest(case=case):
                    timetable = make(case["t"])
                    self.assertEqual((timetable.summary, timetable.description), (case["summary"], case["description"]))


class Compiled(unittest.TestCase):
    def test_a_class_may_change_what_the_one_it_inherits_answers(self) -> None:
        spec = compile_text(
            "import datetime, pendulum\nfrom airflow.sdk import DAG\n"
            "from airflow.timetables.interval import CronDataIntervalTimetable\n"
            "class Workdays(CronDataIntervalTimetable):\n"
            "    description = 'on working days'\n"
            "    def next_dagrun_info(self, *, last_automated_data_interval, restriction):\n"
            "        info = super().next_dagrun_info(last_automated_data_interval=last_automated_data_interval,\n"
            "                                        restriction=restriction)\n"
            "        while info is not None and info.data_interval.start.day_of_week in (5, 6):\n"
            "            info = super().next_dagrun_info(last_automated_data_interval=info.data_interval, restriction=restriction)\n"
            "        return info\n"
            "d = DAG('d', schedule=Workdays('0 4 * * *', timezone='Europe/Berlin'), catchup=True,\n"
            "        start_date=pendulum.datetime(2026, 1, 1, tz='UTC'))\n"
        )["dags"][0]["spec"]
        schedule = spec["schedule"]
        self.assertEqual((schedule["type"], schedule["class"]), ("custom", "dag.Workdays"))
        self.assertEqual((schedule["summary"], schedule["description"]), ("0 4 * * *", "on working days"))
        starts = [run["start"] for run in schedule["table"]["runs"][:4]]
        days = ("01T03:00", "02T03:00", "05T03:00", "06T03:00")
        self.assertEqual(starts, [f"2026-01-{day}:00+00:00" for day in days])


if __name__ == "__main__":
    unittest.main()
