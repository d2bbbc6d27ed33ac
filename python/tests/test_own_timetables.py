"""Timetable classes of authors, asked where their code may run."""

from __future__ import annotations

import datetime
import unittest

from svc_runtime.ask_timetable import TimetableFailed, answer, runs_after
from svc_runtime.record.timetable_base import DagRunInfo, Timetable

from .support import compile_text

UTC = datetime.timezone.utc
START = datetime.datetime(2026, 1, 1, tzinfo=UTC)
HOUR = datetime.timedelta(hours=1)
HEAD = (
    "import pendulum\nfrom datetime import timedelta\nfrom airflow.sdk import DAG, Asset\n"
    "from airflow.timetables.assets import AssetOrTimeSchedule\nfrom airflow.timetables.base import DagRunInfo, Timetable\n"
    "class Own(Timetable):\n    def next_dagrun_info(self, *, last_automated_data_interval, restriction):\n"
    "        last = last_automated_data_interval\n        start = restriction.earliest if last is None else last.end\n"
    "        return DagRunInfo.interval(start, start + timedelta(hours=1))\n"
)


class Hours(Timetable):
    def next_dagrun_info(self, *, last_automated_data_interval, restriction):
        start = restriction.earliest if last_automated_data_interval is None else last_automated_data_interval.end
        return None if restriction.latest and start > restriction.latest else DagRunInfo.interval(start, start + HOUR)


class Asked(unittest.TestCase):
    def _runs(self, timetable, **more) -> dict:
        return runs_after(timetable, **{"last": None, "earliest": START, "latest": None, "catchup": True, **more})

    def test_runs_follow_each_other_up_to_a_bound(self) -> None:
        found = self._runs(Hours())
        self.assertEqual((len(found["runs"]), found["complete"], found["after"]), (100, False, None))
        self.assertEqual(found["runs"][1]["start"], found["runs"][0]["end"])
        last = DagRunInfo.interval(START, START + HOUR)
        behind = self._runs(Hours(), last=last, latest=START + 3 * HOUR)
        self.assertEqual([run["start"][11:13] for run in behind["runs"]], ["01", "02", "03"])
        self.assertEqual((behind["complete"], behind["after"]["end"][11:13]), (True, "01"))

    def test_a_timetable_that_goes_by_the_clock_is_not_asked_ahead_of_it(self) -> None:
        class Now(Timetable):
            def next_dagrun_info(self, *, last_automated_data_interval, restriction):
                return DagRunInfo.exact(datetime.datetime.now(UTC))

        self.assertEqual(len(self._runs(Now())["runs"]), 1)

    def test_the_newer_question_is_asked_where_it_is_answered(self) -> None:
        class Newer(Timetable):
            def next_dagrun_info_v2(self, *, last_dagrun_info, restriction):
                start = restriction.earliest if last_dagrun_info is None else last_dagrun_info.data_interval.end
                return DagRunInfo.interval(start, start + HOUR)

        self.assertEqual(len(self._runs(Newer(), count=3)["runs"]), 3)

    def test_answers_that_are_none_are_refused_in_words(self) -> None:
        def own(result):
            return type("Own", (Timetable,), {"next_dagrun_info": lambda self, **_: result})()

        naive = datetime.datetime(2026, 1, 1)
        for result, part in (
            ("soon", "is not a DagRunInfo or None"),
            (DagRunInfo(run_after=START, data_interval=None), "with run_after and data_interval"),
            (DagRunInfo.exact(naive), "dates with a time zone"),
            (DagRunInfo.exact(START), "again when it was asked for the one after it"),
        ):
            with self.assertRaisesRegex(TimetableFailed, part):
                self._runs(own(result))

    def test_workers_answer_the_questions_of_the_control_plane(self) -> None:
        question = {"kind": "range", "last": None, "earliest": "2026-01-01T00:00:00+00:00", "catchup": True}
        found = answer(Hours(), {**question, "latest": None, "until": "2026-01-01T02:30:00+00:00", "count": 50})
        self.assertEqual([run["end"][11:13] for run in found["runs"]], ["01", "02"])
        with self.assertRaisesRegex(Exception, r"has no infer_manual_data_interval\(\)"):
            answer(Hours(), {"kind": "manual", "run_after": "2026-01-01T00:00:00+00:00"})


class Compiled(unittest.TestCase):
    def test_the_identity_of_a_spec_does_not_depend_on_when_it_was_asked(self) -> None:
        text = HEAD + "d = DAG('d', schedule=Own(), start_date=pendulum.datetime(2026, 1, 1, tz='UTC'), catchup=True)\n"
        first, second = (compile_text(text)["dags"][0] for _ in range(2))
        self.assertEqual(first["sha256"], second["sha256"])
        self.assertNotEqual(
            first["spec"]["schedule"]["table"]["asked_at"], second["spec"]["schedule"]["table"]["asked_at"]
        )

    def test_beside_assets_as_well(self) -> None:
        schedule = "AssetOrTimeSchedule(timetable=Own(), assets=[Asset('a')])"
        text = HEAD + f"d = DAG('d', schedule={schedule}, start_date=pendulum.datetime(2026, 1, 1, tz='UTC'))\n"
        spec = compile_text(text)["dags"][0]["spec"]
        self.assertEqual(spec["schedule"]["timetable"]["type"], "custom")

    def test_a_class_that_gives_a_built_in_one_its_arguments_is_that_one(self) -> None:
        text = (
            HEAD + "from airflow.timetables.interval import CronDataIntervalTimetable\n"
            "class Workdays(CronDataIntervalTimetable):\n    def __init__(self, hour):\n"
            "        super().__init__(f'0 {hour} * * 1-5', timezone='Europe/Berlin')\n        self.hour = hour\n"
            "class Early(Workdays):\n    def __init__(self):\n        super().__init__(5)\n"
            "    def serialize(self):\n        return {'hour': self.hour}\n"
            "d = DAG('d', schedule=Early())\n"
        )
        spec = compile_text(text)["dags"][0]["spec"]
        self.assertEqual(
            spec["schedule"],
            {"type": "cron_data_interval", "expression": "0 5 * * 1-5", "timezone": "Europe/Berlin"},
        )


if __name__ == "__main__":
    unittest.main()
