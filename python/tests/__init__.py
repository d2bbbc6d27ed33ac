"""The tests of the Python side. They import svc_runtime and airflow from this checkout, and the comparison from golden/."""

from __future__ import annotations

import os
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.path.dirname(TESTS)
for _folder in (PYTHON, os.path.join(PYTHON, "golden")):
    if _folder not in sys.path:
        sys.path.insert(0, _folder)
