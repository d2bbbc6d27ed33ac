"""From dbt's manifest to tasks. The manifest was recorded from dbt 1.10: a source with freshness and a test, a seed, an ephemeral
model, a model of two versions, tests of one and of two parents, a unit test, a snapshot, and folders that need each other."""

from __future__ import annotations

import json
import os
import unittest

from svc_runtime.dbt.graph import Graph, compact
from svc_runtime.dbt.plan import plan
from svc_runtime.exceptions import RecordingError

from . import TESTS


def manifest() -> dict:
    with open(os.path.join(TESTS, "dbt_manifest.json"), encoding="utf-8") as file:
        return json.load(file)


def graph(*selected: str) -> Graph:
    whole = manifest()
    names = [*whole["nodes"], *whole["unit_tests"], *whole["sources"]]
    wanted = [name for name in names if name.split(".")[2] in selected] if selected else names
    return Graph(compact(whole, selected=wanted, project_hash="h"))


def parts(of: Graph, granularity: str, tests: str = "after_each", **more) -> dict:
    return {part.key: part for part in plan(of, granularity=granularity, tests=tests, **more)}


def names(part) -> list:
    return [node.name for node in part.nodes]


class Graphs(unittest.TestCase):
    def test_the_same_manifest_gives_the_same_bytes(self) -> None:
        whole = manifest()
        whole["nodes"] = dict(reversed(whole["nodes"].items()))
        first = json.dumps(compact(manifest(), selected=["b", "a"], project_hash="h"))
        self.assertEqual(first, json.dumps(compact(whole, selected=["a", "b"], project_hash="h")))

    def test_selectors_name_exactly_one_node(self) -> None:
        nodes = graph().nodes
        self.assertEqual(nodes["model.rich.orders.v2"].selector, "fqn:rich.marts.core.orders.v2")
        self.assertEqual(nodes["source.rich.raw.orders"].selector, "source:rich.raw.orders")

    def test_order_is_kept_across_models_that_are_not_selected(self) -> None:
        found = parts(graph("stg_orders", "report"), "node")
        self.assertEqual(found["report_run"].upstream, {"stg_orders_run"})


class ByNode(unittest.TestCase):
    def test_every_edge_of_dbt_is_there_and_ephemeral_models_are_not(self) -> None:
        found = parts(graph(), "node", "none")
        self.assertEqual(
            {key: sorted(part.upstream) for key, part in found.items()},
            {
                "people_seed": [],
                "stg_people_run": ["people_seed"],
                "people_snapshot_snapshot": ["stg_people_run"],
                "stg_orders_run": [],
                "orders_v1_run": ["stg_orders_run"],
                "orders_v2_run": ["stg_orders_run"],
                "report_run": ["orders_v2_run", "stg_people_run"],
                "stg_back_run": ["report_run"],
            },
        )

    def test_tests_come_after_what_they_read_and_before_what_follows(self) -> None:
        found = parts(graph(), "node")
        self.assertEqual(names(found["stg_orders.test"]), ["not_null_stg_orders_id", "unique_stg_orders_id"])
        self.assertEqual(found["orders_v2.run"].upstream, {"stg_orders.test"})
        shared = "relationships_stg_people_id__person__ref_stg_orders__test"
        self.assertEqual(found[shared].upstream, {"stg_orders.test", "stg_people.test"})
        # What reads only one of the two goes on; what comes after both waits, as with `dbt build`.
        self.assertNotIn(shared, found["people_snapshot_snapshot"].upstream | found["orders_v2.run"].upstream)
        self.assertIn(shared, found["report.run"].upstream)

    def test_tests_of_a_source_come_before_its_readers(self) -> None:
        found = parts(graph(), "node")
        self.assertEqual(names(found["raw_orders_test"]), ["source_not_null_raw_orders_id"])
        self.assertIn("raw_orders_test", found["stg_orders.run"].upstream)

    def test_freshness_is_a_task_for_sources_that_ask_for_it(self) -> None:
        found = parts(graph(), "node", source_freshness=True)
        self.assertEqual([key for key in found if key.endswith("_freshness")], ["raw_orders_freshness"])
        self.assertIn("raw_orders_freshness", found["stg_orders.run"].upstream)

    def test_build_has_a_node_and_its_tests_in_one_task(self) -> None:
        found = parts(graph(), "node", "build")
        self.assertEqual(found["report_model_build"].command, "build")
        self.assertEqual(names(found["report_model_build"]), ["report", "not_null_report_id"])

    def test_after_all_waits_for_every_last_task(self) -> None:
        found = parts(graph(), "node", "after_all")
        self.assertEqual(len(found["test"].nodes), 8)
        self.assertEqual(found["test"].upstream, {"orders_v1_run", "people_snapshot_snapshot", "stg_back_run"})

    def test_the_same_name_in_two_packages_gives_two_tasks(self) -> None:
        whole = manifest()
        twin = {
            **whole["nodes"]["model.rich.stg_orders"],
            "unique_id": "model.other.stg_orders",
            "package_name": "other",
        }
        whole["nodes"]["model.other.stg_orders"] = twin
        found = parts(Graph(compact(whole, selected=list(whole["nodes"]), project_hash="h")), "node", "none")
        self.assertTrue({"rich_model_stg_orders_run", "other_model_stg_orders_run"} <= found.keys())


class ByLevelAndFolder(unittest.TestCase):
    def test_levels_are_a_chain_with_tests_inside(self) -> None:
        found = list(parts(graph(), "level").values())
        self.assertEqual([part.name for part in found], ["level_1", "level_2", "level_3", "level_4"])
        self.assertEqual([sorted(part.upstream) for part in found], [[], ["level_1"], ["level_2"], ["level_3"]])
        self.assertIn("relationships_stg_people_id__person__ref_stg_orders_", names(found[1]))
        self.assertEqual({part.command for part in found}, {"build"})

    def test_folders_that_need_each_other_are_done_in_parts(self) -> None:
        found = parts(graph(), "folder")
        self.assertEqual(list(found), ["seeds", "staging", "marts__core", "marts", "snapshots", "staging_part2"])
        self.assertEqual(found["staging_part2"].upstream, {"marts"})
        self.assertEqual(names(found["staging_part2"]), ["stg_back"])

    def test_every_node_and_test_is_in_exactly_one_task(self) -> None:
        wanted = sorted(node.id for node in [*graph().built, *graph().tests])
        for granularity in ("node", "level", "folder"):
            for tests in ("after_each", "build", "after_all"):
                found = parts(graph(), granularity, tests)
                self.assertEqual(sorted(node.id for part in found.values() for node in part.nodes), wanted)
                before: set = set()
                for part in found.values():
                    self.assertLessEqual(part.upstream, before)
                    before.add(part.key)


class Refused(unittest.TestCase):
    def test_words_that_mean_nothing(self) -> None:
        for granularity, tests in (("model", "none"), ("node", "sometimes")):
            with self.assertRaisesRegex(RecordingError, "Write one of"):
                plan(graph(), granularity=granularity, tests=tests)

    def test_a_selection_of_nothing(self) -> None:
        with self.assertRaisesRegex(RecordingError, "nothing to run"):
            plan(graph("nobody"), granularity="node", tests="none")
