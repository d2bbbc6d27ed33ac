"""The identity of assets, as Airflow 3.2.2 spells it."""

from __future__ import annotations

import unittest

from airflow.sdk import DAG, Asset


class Uris(unittest.TestCase):
    # Hazard: two files name the same asset, one through Airflow's spelling, and become two assets.
    def test_a_place_has_one_spelling(self) -> None:
        spelled = {
            "s3://x": "s3://x/",
            "s3://x/a/": "s3://x/a",
            "s3://x#part": "s3://x/",
            "https://h?b=1&a=2": "https://h/?a=2&b=1",
            "wasb://container@account": "wasb://container@account/",
            "file://x": "file://x/",
            "plain": "plain",
        }
        self.assertEqual({uri: Asset(uri).uri for uri in spelled}, spelled)
        self.assertEqual(Asset("s3://x").name, "s3://x")


class Tags(unittest.TestCase):
    # Hazard: policies and helpers of a repository call the methods of a set.
    def test_are_a_set(self) -> None:
        dag = DAG("d", tags=["b", "a", "b"])
        dag.tags.add("c")
        self.assertEqual(dag.tags, {"a", "b", "c"})
