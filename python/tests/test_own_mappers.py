"""Partition mappers of authors: what is asked of them, and what they inherit answers as Airflow's do."""

from __future__ import annotations

import json
import os
import unittest

from svc_runtime.ask_mapper import answer_keys
from svc_runtime.record import partition_mappers as pm
from svc_runtime.record.assets import Asset
from svc_runtime.record.timetables import PartitionedAssetTimetable

from . import PYTHON

GOLDEN = os.path.join(PYTHON, "..", "packages", "spec", "timetables", "partitions-golden.json")
UNITS = {
    kind.unit: kind
    for kind in (
        *(pm.StartOfHourMapper, pm.StartOfDayMapper, pm.StartOfWeekMapper),
        *(pm.StartOfMonthMapper, pm.StartOfQuarterMapper, pm.StartOfYearMapper),
    )
}


def _made(spec: dict) -> pm.PartitionMapper:
    kind = spec["mapper"]
    if kind == "identity":
        return pm.IdentityMapper()
    if kind == "allowed":
        return pm.AllowedKeyMapper(spec["keys"])
    if kind == "start_of":
        return UNITS[spec["unit"]](spec["input_format"], spec["output_format"], timezone=spec["timezone"])
    parts = [_made(part) for part in spec["mappers"]]
    return pm.ChainMapper(*parts) if kind == "chain" else pm.ProductMapper(*parts, delimiter=spec["delimiter"])


class EndOfMonth(pm.StartOfMonthMapper):
    def to_downstream(self, key):
        return super().to_downstream(key) + "-end"


class Shifted(pm.StartOfDayMapper):
    def normalize(self, dt):
        return super().normalize(dt).replace(day=1)


class Both(pm.PartitionMapper):
    def __init__(self, suffixes):
        self.suffixes = suffixes

    def serialize(self):
        return {"suffixes": self.suffixes}

    def to_downstream(self, key):
        if key == "bad":
            raise KeyError(key)
        return (f"{key}-{suffix}" for suffix in self.suffixes)


class OnlyArguments(pm.StartOfDayMapper):
    def __init__(self):
        super().__init__("%Y%m%d")


def ask(mapper, *keys, config=None):
    timetable = PartitionedAssetTimetable(Asset("a"), config or {}, mapper)
    question = {"kind": "keys", "keys": [{"mapper": -1, "key": key} for key in keys]}
    return [found.get("keys", found.get("problem")) for found in answer_keys(timetable, question)["keys"]]


class OwnMappers(unittest.TestCase):
    def test_what_is_inherited_answers_as_airflow_does(self) -> None:
        with open(GOLDEN, encoding="utf8") as file:
            mapped = json.load(file)["mapped"]
        self.assertGreater(len(mapped), 250)
        for spec, key, expected in mapped:
            with self.subTest(spec=spec, key=key):
                try:
                    found = _made(spec).to_downstream(key)
                except ValueError:
                    found = None
                self.assertEqual(found, expected)

    def test_what_has_to_be_asked(self) -> None:
        def spec(mapper):
            return pm.mapper_spec(mapper, lambda value: value)

        self.assertEqual(spec(OnlyArguments())["mapper"], "start_of")
        self.assertEqual(
            spec(Both(["x"])), {"mapper": "custom", "class": f"{__name__}.Both", "arguments": {"suffixes": ["x"]}}
        )
        for mapper in (EndOfMonth(), Shifted(), pm.ChainMapper(pm.IdentityMapper(), Both([]))):
            self.assertEqual(spec(mapper)["mapper"], "custom")
        self.assertEqual(spec(pm.ChainMapper(pm.IdentityMapper(), OnlyArguments()))["mapper"], "chain")

    def test_answers(self) -> None:
        self.assertEqual(ask(EndOfMonth(), "2026-05-07T01:02:03"), [["2026-05-end"]])
        self.assertEqual(ask(Shifted(), "2026-05-07T01:02:03"), [["2026-05-01"]])
        self.assertEqual(ask(Both(["x", "y", "x"]), "k"), [["k-x", "k-y"]])
        self.assertEqual(ask(Both([]), "k"), [[]])
        # As an Airflow 3.2.2 gives them for the same mappers.
        self.assertEqual(ask(pm.ChainMapper(Both(["x", "y"]), pm.IdentityMapper()), "k"), [["k-x", "k-y"]])
        [problem] = ask(pm.ProductMapper(Both(["x", "y"]), pm.IdentityMapper()), "a|b")
        self.assertIn("must return a single key, but Both returned multiple keys", problem)

    def test_what_it_raises_is_told_of_its_key_alone(self) -> None:
        good, bad = ask(Both(["x"]), "k", "bad")
        self.assertEqual(good, ["k-x"])
        self.assertEqual(bad, f"the partition mapper {__name__}.Both raised KeyError: 'bad'")
        self.assertIn("gave more than 1000 keys for one", ask(Both(range(2_000)), "k")[0])

    def test_an_answer_that_is_no_key_is_told(self) -> None:
        class Five(pm.PartitionMapper):
            def to_downstream(self, key):
                return 5

        class Empty(pm.PartitionMapper):
            def to_downstream(self, key):
                return ["a", ""]

        for mapper in (Five(), Empty()):
            self.assertIn("which is not a key", ask(mapper, "k")[0])

    def test_the_mapper_of_an_asset_is_the_one_that_is_asked(self) -> None:
        timetable = PartitionedAssetTimetable(
            Asset("a") & Asset("b"), {Asset("a"): Both(["a"]), Asset("b"): Both(["b"])}, Both(["else"])
        )
        question = {"keys": [{"mapper": place, "key": "k"} for place in (0, 1, -1)]}
        self.assertEqual(
            [found["keys"] for found in answer_keys(timetable, question)["keys"]], [["k-a"], ["k-b"], ["k-else"]]
        )
