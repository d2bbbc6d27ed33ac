"""Environment variables of an attempt, few and many. Each case in a process of its own: they would stay otherwise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

CASE = """
import json, os, subprocess, sys
from svc_runtime.run.set_environment import set_environment

def of_program():
    out = subprocess.run(["env", "-0"], capture_output=True, check=True).stdout.decode()
    return dict(entry.split("=", 1) for entry in out.split("\\0") if entry)

many = int(sys.argv[1])
set_environment({"KEPT": "replaced", "WIDE": "grün = ✓", "NUMBER": 7, **{f"MANY_{n}": f"value {n}" for n in range(many)}})
first = of_program()
os.environ["KEPT"] = "again"
os.environ["LATER"] = "yes"
del os.environ["MANY_0"]
print(json.dumps([first, dict(os.environ), of_program()]))
"""

REFUSED = """
import sys
from svc_runtime.run.set_environment import set_environment
try:
    set_environment({sys.argv[1].replace("NUL", "\\0"): "x", **{f"MANY_{n}": "" for n in range(int(sys.argv[2]))}})
except (ValueError, OSError):
    print("refused")
"""


def run(script: str, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "KEPT": "before", "OTHER": "untouched"}
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


class Environment(unittest.TestCase):
    def test_programs_see_what_python_sees_however_many_there_are(self):
        for many in (1, 3_000):
            with self.subTest(many=many):
                first, own, later = json.loads(run(CASE, str(many)))
                self.assertEqual([first["KEPT"], first["WIDE"], first["NUMBER"]], ["replaced", "grün = ✓", "7"])
                self.assertEqual([first["OTHER"], first[f"MANY_{many - 1}"]], ["untouched", f"value {many - 1}"])
                self.assertEqual(sum(name.startswith("MANY_") for name in first), many)
                # What the task changes afterwards reaches its programs, too.
                self.assertEqual([later["KEPT"], later["LATER"]], ["again", "yes"])
                self.assertNotIn("MANY_0", later)
                self.assertEqual({**own, "_": ""}, {**later, "_": ""})

    def test_a_name_that_cannot_be_one_is_refused_alike(self):
        for name in ("WITH=SIGN", "WITHNUL", ""):
            for many in ("1", "3000"):
                with self.subTest(name=name, many=many):
                    self.assertEqual(run(REFUSED, name, many), "refused\n")


if __name__ == "__main__":
    unittest.main()
