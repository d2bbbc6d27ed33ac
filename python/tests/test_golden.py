"""Our view of every corpus file against a real Airflow's view of it."""

from __future__ import annotations

import os
import unittest

from compare import differences, explained, render

from . import TESTS


class Golden(unittest.TestCase):
    def test_no_difference_to_airflow_without_a_reason(self) -> None:
        rows = differences(os.path.join(TESTS, "dags"), os.path.join(TESTS, "golden"))
        print(f"Compiled specs against a real Airflow:\n{render(rows)}")
        self.assertEqual([row[:4] for row in rows if row[4] is None], [])
        # A reason that explains nothing any more is stale and would hide the next difference.
        used = {row[4] for row in rows}
        self.assertEqual([row for row in explained() if row[2] not in used], [])

    def test_the_corpus_is_as_large_as_promised(self) -> None:
        names = [n for f in ("dags", "dags_own") for n in os.listdir(os.path.join(TESTS, f)) if n.endswith(".py")]
        self.assertGreaterEqual(len(names), 60)
        self.assertGreaterEqual(len([name for name in names if name.startswith("real_")]), 10)


if __name__ == "__main__":
    unittest.main()
