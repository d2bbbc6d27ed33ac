"""Values of more than forty types arrive as they left, as on a real Airflow or better; what cannot is refused with advice.

`airflow_values.json` says what arrived on Airflow 3.2.2 (golden/airflow_values.py).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from types import SimpleNamespace

from svc_runtime.run.xcom_libraries import Unsupported, _encode_iceberg

from . import PYTHON

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = os.environ.get("SVC_TEST_VALUES", "")

# What arrives as something else, there and here: JSON has no other dicts.
CHANGED = {"dict_with_int_keys": "builtins.dict", "ordered_dict": "builtins.dict"}

ROUND_TRIPS = """
import json
import value_types
from svc_runtime.run.xcom_values import XComEncodeError, decode, encode

found = {}
for name, make in value_types.VALUES.items():
    back = decode(json.loads(json.dumps(encode(make()), allow_nan=False)))
    found[name] = True if value_types.same(back, make()) else value_types.type_of(back)

import numpy, pandas, polars, pyarrow

class Own(pandas.DataFrame):
    pass

refused = {}
for name, value in {
    "mixed": pandas.DataFrame({"a": [1, "b"]}),
    "tuples": pandas.DataFrame({"a": [(1, 2), (3, 4)]}),
    "twice": pandas.DataFrame([[1, 2]], columns=["a", "a"]),
    "objects": numpy.array([object()]),
    "masked": numpy.ma.array([1, 2], mask=[0, 1]),
    "subclass": Own({"a": [1]}),
    "index": pandas.Index([1]),
    "lazy": polars.DataFrame({"a": [1]}).lazy(),
    "chunks": pyarrow.chunked_array([[1]]),
}.items():
    try:
        refused[name] = repr(encode(value))
    except XComEncodeError as error:
        refused[name] = str(error)
about = encode(value_types.frame())["__data__"]["about"]
print(json.dumps({"found": found, "refused": refused, "about": about}))
"""


class ValueTypes(unittest.TestCase):
    found: dict

    @classmethod
    def setUpClass(cls) -> None:
        if not os.path.isdir(os.path.join(LIBRARIES, "pyarrow")):
            raise AssertionError("run by packages/spec/python.test.ts")
        path = os.pathsep.join([PYTHON, HERE, LIBRARIES])
        done = subprocess.run(
            [sys.executable, "-c", ROUND_TRIPS],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.found = json.loads(done.stdout)

    def test_every_value_that_airflow_keeps_is_kept_here_and_most_others_are_too(self) -> None:
        with open(os.path.join(HERE, "airflow_values.json"), encoding="utf-8") as file:
            on_airflow = json.load(file)
        here = self.found["found"]
        self.assertEqual(sorted(here), sorted(on_airflow))
        self.assertGreaterEqual(len(here), 40)
        self.assertEqual({name: kind for name, kind in here.items() if kind is not True}, CHANGED)
        for name, kind in CHANGED.items():
            self.assertEqual(on_airflow[name], {"result": "changed", "type": kind})

    def test_what_would_arrive_as_something_else_is_refused_with_advice(self) -> None:
        for name, words in (
            ("mixed", "cannot be written as Arrow.*give every column one type"),
            ("tuples", "a tuple in column 'a' would become a"),
            ("twice", "a name of its own"),
            ("objects", "give it a dtype"),
            ("masked", "numpy.asarray"),
            ("subclass", "type __main__.Own"),
            ("index", "return a DataFrame or a Series"),
            ("lazy", "after collect"),
            ("chunks", "return a Table"),
        ):
            with self.subTest(name=name):
                self.assertRegex(self.found["refused"][name], words)

    def test_people_read_what_a_frame_has_and_not_its_bytes(self) -> None:
        self.assertEqual(self.found["about"][:38], "3 rows; number int64, share float64, w")


class TablesElsewhere(unittest.TestCase):
    """The libraries are not installed here. Their tables have these attributes."""

    def test_a_table_that_was_opened_with_a_secret_is_refused_and_no_other(self) -> None:
        def catalog_with(**properties):
            return SimpleNamespace(name=lambda: ("ns", "t"), catalog=SimpleNamespace(name="c", properties=properties))

        plain = {"type": "sql", "uri": "postgresql://svc@db:5432/catalog"}
        self.assertEqual(_encode_iceberg(catalog_with(**plain), dict)["catalog_properties"], plain)
        for secret in ({"uri": "postgresql://svc:hidden@db/catalog"}, {"s3.secret-access-key": "hidden"}):
            with self.assertRaises(Unsupported) as refused:
                _encode_iceberg(catalog_with(**secret), dict)
            self.assertIn(f"opened with {next(iter(secret))}", str(refused.exception))
            self.assertNotIn("hidden", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
