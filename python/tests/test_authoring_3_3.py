"""What Airflow 3.3 adds to DAG files is part of the compiled DAG, or is refused with a reason."""

from __future__ import annotations

import os
import unittest
from unittest import mock

import airflow  # noqa: F401  installs the import paths

# isort: split
from airflow.sdk import Asset, AssetAlias
from svc_runtime.run.asset_events import InletEvents, OutletEvents, TriggeringEvents, events_of

from .support import compile_text, spec_of

HEAD = (
    "import datetime\nfrom airflow.sdk import *\n"
    "from airflow.sdk.definitions.deadline import VariableInterval\n"
    "def late(): ...\n"
)


class Channel:
    """Remembers the questions of a task, and answers with one event."""

    def __init__(self) -> None:
        self.questions: list[dict] = []

    def request(self, method: str, **question):
        self.questions.append(question)
        place = {"asset": {"name": "sales", "uri": "s3://sales"}, "aliases": ["daily"]}
        return [{**place, "extra": {}, "timestamp": "2026-01-01T00:00:00Z"}]


class CompiledOf33(unittest.TestCase):
    def test_what_a_dag_says_of_its_result_its_reruns_and_its_groups_is_in_the_spec(self) -> None:
        spec = spec_of(
            HEAD + "with DAG('d', rerun_with_latest_version=True) as dag:\n"
            "    with TaskGroup('g', doc_md='# Group'):\n"
            "        @result\n        @task\n        def one(): return 1\n        one()\n"
            "    @task\n    def two(): return 2\n"
            "    dag.add_result(two())\n"
        )
        self.assertEqual(spec["dag"]["result_task_ids"], ["g.one", "two"])
        self.assertTrue(spec["dag"]["rerun_with_latest_version"])
        self.assertEqual([group.get("doc_md") for group in spec["groups"]], [None, "# Group"])

    def test_retries_of_groups_and_of_the_dag_are_in_the_spec_and_must_be_whole_numbers(self) -> None:
        spec = spec_of(
            HEAD + "with DAG('d', retries=1):\n"
            "    with TaskGroup('g', retries=2):\n        pass\n"
            "    @task_group(retries=0)\n    def h(): ...\n"
            "    h()\n"
        )
        self.assertEqual(spec["dag"]["retries"], 1)
        self.assertEqual([group.get("retries") for group in spec["groups"]], [None, 2, 0])
        for wrong, words in (("-1", "must not be negative"), ("'2'", "must be an int"), ("True", "must be an int")):
            for text in (f"DAG('d', retries={wrong})", f"with DAG('d'):\n    TaskGroup('g', retries={wrong})"):
                self.assertIn(words, compile_text(HEAD + text + "\n")["error"]["message"])

    def test_a_deadline_has_its_name_and_the_seconds_of_its_variable(self) -> None:
        text = (
            HEAD + "alert = DeadlineAlert(DeadlineReference.DAGRUN_QUEUED_AT, VariableInterval('patience'),"
            " SyncCallback(late), name='slow')\n"
            "with DAG('d', deadline=alert):\n    pass\n"
        )
        with mock.patch.dict(os.environ, {"AIRFLOW_VAR_PATIENCE": "90"}):
            deadline = spec_of(text)["dag"]["deadlines"][0]
        self.assertEqual((deadline["name"], deadline["interval"]), ("slow", 90))
        with mock.patch.dict(os.environ, {"AIRFLOW_VAR_PATIENCE": "soon"}):
            error = compile_text(text)["error"]["message"]
        self.assertIn("'patience' of a VariableInterval is not a number of seconds", error)

    def test_a_deadline_reference_of_an_author_is_named_in_the_spec_and_refused_if_it_cannot_be_asked(self) -> None:
        text = (
            HEAD + "@deadline_reference()\nclass Mine(BaseDeadlineReference):\n    {}\n"
            "with DAG('d', deadline=DeadlineAlert(DeadlineReference.Mine, datetime.timedelta(1), SyncCallback(late))):\n"
            "    pass\n"
        )
        body = "def _evaluate_with(self, *, session, **kwargs): ..."
        deadline = spec_of(text.format(body))["dag"]["deadlines"][0]
        self.assertEqual((deadline["reference"], deadline["reference_arguments"]), ("custom", {"class": "Mine"}))
        self.assertIn("Mine has no _evaluate_with()", compile_text(text.format("pass"))["error"]["message"])
        needy = f"required_kwargs = {{'dag_id', 'logical_date'}}\n    {body}"
        self.assertIn("Mine requires logical_date", compile_text(text.format(needy))["error"]["message"])

    def test_teams_of_an_asset_are_reported_as_without_effect(self) -> None:
        answer = compile_text(
            HEAD
            + "sales = Asset('sales', access_control=AssetAccessControl(consumer_teams=['a'], allow_global=False))\n"
            "with DAG('d', schedule=[sales]):\n    pass\n"
        )
        noted = answer["differences"]
        self.assertEqual(noted, [{"row": "asset-access-control", "what": "Asset sales", "place": "dag.py:5"}])


class PartitionsOf33(unittest.TestCase):
    def schedule(self, mapper: str, head: str = "") -> dict:
        return compile_text(
            HEAD
            + head
            + f"with DAG('d', schedule=PartitionedAssetTimetable(Asset('a'), default_partition_mapper={mapper})):\n"
            "    pass\n"
        )

    def test_rollups_and_fan_outs_are_data_that_the_control_plane_applies(self) -> None:
        rollup = (
            "RollupMapper(upstream_mapper=FixedKeyMapper('all'), window=SegmentWindow(['us', 'eu', 'us']), wait_policy="
        )
        answer = self.schedule(rollup + "MinimumCount(-1))")
        self.assertEqual(
            answer["dags"][0]["spec"]["schedule"]["default_mapper"],
            {
                "mapper": "rollup",
                "upstream": {"mapper": "fixed", "key": "all"},
                "window": {"window": "segments", "segments": ["eu", "us"]},
                "wait_policy": {"wait": "minimum", "count": -1},
            },
        )
        fan_out = (
            "FanOutMapper(upstream_mapper=StartOfWeekMapper(), max_downstream_keys=7, window=WeekWindow(direction="
        )
        mapper = self.schedule(fan_out + "Window.Direction.BACKWARD))")["dags"][0]["spec"]["schedule"]["default_mapper"]
        self.assertEqual(mapper["window"], {"window": "week", "direction": "backward"})
        self.assertEqual((mapper["downstream"]["unit"], mapper["max_keys"]), ("day", 7))

    def test_an_own_wait_policy_is_asked_for_each_size_of_its_window_when_the_file_is_compiled(self) -> None:
        own = (
            "from airflow.partition_mappers.wait_policy import WaitPolicy\n"
            "class Most(WaitPolicy):\n    def is_satisfied(self, matched, expected):\n"
            "        return matched * 10 >= expected * 9\n"
            "class Fewer(WaitPolicy):\n    def is_satisfied(self, matched, expected):\n        return matched < 2\n"
            "class Never(WaitPolicy):\n    def is_satisfied(self, matched, expected):\n        return False\n"
            "class ByKeys(WaitForAll):\n    def is_satisfied_by_keys(self, *, matched, expected):\n        return None\n"
            "class Empty(WaitPolicy):\n    pass\n"
        )
        mapper = "RollupMapper(upstream_mapper=StartOfMonthMapper(), window=MonthWindow(), wait_policy={}())"
        policy = self.schedule(mapper.format("Most"), own)["dags"][0]["spec"]["schedule"]["default_mapper"][
            "wait_policy"
        ]
        self.assertEqual(policy["wait"], "table")
        self.assertEqual(
            [(row["expected"], row["count"]) for row in policy["counts"]], [(28, 26), (29, 27), (30, 27), (31, 28)]
        )
        for name, expected in (
            ("Fewer", "is not satisfied by more than a number that is enough"),
            ("Never", "is not satisfied by all of them"),
            ("ByKeys", "looks at the keys themselves"),
            ("Empty", "has no is_satisfied()"),
        ):
            self.assertIn(expected, self.schedule(mapper.format(name), own)["error"]["message"])

    def test_windows_that_fit_no_mapper_and_windows_of_authors_are_refused(self) -> None:
        own = "class Mine(DayWindow):\n    pass\nclass Own(PartitionMapper):\n    def to_downstream(self, key):\n        return key\n"
        for mapper, expected in (
            ("RollupMapper(upstream_mapper=IdentityMapper(), window=DayWindow())", "does not fit its upstream_mapper"),
            (
                "FanOutMapper(upstream_mapper=StartOfHourMapper(), window=HourWindow())",
                "has no default downstream_mapper",
            ),
            ("RollupMapper(upstream_mapper=StartOfDayMapper(), window=Mine())", "Mine is a window of the author's own"),
            ("RollupMapper(upstream_mapper=Own(), window=SegmentWindow(['a']))", "combines a window with code"),
            (
                "ChainMapper(Own(), FanOutMapper(upstream_mapper=StartOfDayMapper(), window=DayWindow()))",
                "combines a window",
            ),
            ("IdentityMapper(max_downstream_keys=0)", "must be a positive integer"),
            (
                "RollupMapper(upstream_mapper=StartOfDayMapper(), window=DayWindow(), wait_policy=MinimumCount(0))",
                "MinimumCount(0)",
            ),
        ):
            self.assertIn(expected, self.schedule(mapper, own)["error"]["message"])


class EventsOf33(unittest.TestCase):
    def test_filters_of_inlet_events_are_asked_of_the_control_plane_and_a_changed_filter_is_asked_again(self) -> None:
        channel = Channel()
        events = InletEvents([Asset("sales")], channel).for_asset(name="sales")
        events = events.after("2026-01-01").before("2026-02-01T00:00:00+01:00").ascending(False).limit(3)
        self.assertEqual(len(events), 1)
        self.assertEqual(len(events.limit(5)), 1)
        bounds = {"after": "2026-01-01T00:00:00+00:00", "before": "2026-01-31T23:00:00+00:00", "ascending": False}
        self.assertEqual(
            channel.questions, [{"name": "sales", **bounds, "limit": 3}, {"name": "sales", **bounds, "limit": 5}]
        )
        for wrong in (lambda: events.limit(0), lambda: events.after("soon")):
            with self.assertRaises(ValueError):
                wrong()

    def test_events_are_found_by_the_name_the_uri_or_the_alias_of_an_asset(self) -> None:
        channel = Channel()
        triggering = TriggeringEvents(channel)
        for events in (
            triggering.for_asset(name="sales"),
            triggering.for_asset(uri="s3://sales"),
            triggering.for_asset_alias(name="daily"),
        ):
            self.assertEqual([event.asset.name for event in events], ["sales"])
        with self.assertRaises(KeyError):
            triggering.for_asset_alias(name="weekly")
        InletEvents([], channel).for_asset_alias(name="daily")[0]
        self.assertEqual(channel.questions[-1], {"alias": "daily"})
        sales = Asset("sales", "s3://sales")
        outlets = OutletEvents([sales, AssetAlias("daily")])
        outlets.for_asset(uri="s3://sales").extra = {"rows": 1}
        self.assertEqual(outlets[sales].extra, {"rows": 1})
        self.assertIs(outlets.for_asset_alias(name="daily"), outlets[AssetAlias("daily")])

    def test_a_task_names_the_partitions_of_its_events_and_an_alias_has_none(self) -> None:
        sales, daily = Asset("sales"), AssetAlias("daily")
        outlets = OutletEvents([sales, daily])
        outlets[sales].add_partitions("eu")
        outlets[sales].add_partitions(["us", "eu"])
        self.assertEqual([event.get("partition_keys") for event in events_of([sales], outlets)], [["eu", "us"]])
        for wrong in (" ", "x" * 251):
            with self.assertRaises(ValueError):
                outlets[sales].add_partitions(wrong)
        with self.assertRaises(TypeError):
            outlets[daily].add_partitions("eu")
        self.assertEqual(
            spec_of(HEAD + "with DAG('d', schedule=PartitionedAtRuntime()):\n    pass\n")["schedule"], {"type": "null"}
        )


if __name__ == "__main__":
    unittest.main()
