"""`python -m svc_runtime.testing.run_tests '{"arguments": …, "root": …}'`: runs pytest for the editor.

The results are one line of JSON on descriptor 3. Standard streams belong to pytest and to the tests.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import entry_points
from importlib.util import find_spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CHANNEL = 3
_PLUGIN = "svc_runtime.testing.plugin"
# The plugin moves the clock with time-machine.
_NEEDED = ("pytest", "time_machine")
# How pytest ends when the tests have run: all passed, some failed.
_RAN = (0, 1)


class _Reporter:
    """What came of each test. A test has a report for each of its phases; the first phase that fails decides."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root) + os.sep
        self.tests: dict[str, dict[str, Any]] = {}

    def pytest_collectreport(self, report) -> None:
        if report.failed:
            self._failed(self._test(report.nodeid), report)

    def pytest_runtest_logreport(self, report) -> None:
        test = self._test(report.nodeid)
        test["seconds"] += report.duration
        if report.failed and test["state"] != "failed":
            self._failed(test, report)
        elif report.skipped:
            test["state"] = "skipped"
            reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.wasxfail
            test["error"] = str(reason) or "expected to fail"
        elif test["state"] is None and report.when == "call":
            test["state"] = "success"

    def _test(self, name: str) -> dict[str, Any]:
        empty = {"name": name, "state": None, "seconds": 0.0, "error": None, "file": None, "line": None}
        return self.tests.setdefault(name, empty)

    def _failed(self, test: dict[str, Any], report) -> None:
        test["state"] = "failed"
        shown = report.longrepr
        crash = getattr(shown, "reprcrash", None)
        if crash is not None:
            test["error"] = crash.message
        elif hasattr(shown, "errorstring"):  # a fixture that does not exist
            test["error"] = shown.errorstring.strip().partition("\n")[0]
        else:
            test["error"] = str(shown).strip().rpartition("\n")[2].removeprefix("E ").strip()
        for place in self._places(shown):
            test["file"], test["line"] = place

    def _places(self, shown):
        """The lines of the author, the deepest one last."""
        if hasattr(shown, "errorstring"):
            yield str(shown.filename), shown.firstlineno + 1
        entries = getattr(getattr(shown, "reprtraceback", None), "reprentries", [])
        for place in (getattr(entry, "reprfileloc", None) for entry in entries):
            path = "" if place is None else os.path.realpath(place.path)
            if place is not None and path.startswith(self._root):
                yield path, place.lineno


def main() -> None:
    order = json.loads(sys.argv[1])
    missing = [name for name in _NEEDED if find_spec(name) is None]
    answer = {"missing": missing} if missing else _run(order)
    with os.fdopen(_CHANNEL, "wb") as channel:
        channel.write(json.dumps(answer).encode() + b"\n")


def _run(order: dict[str, Any]) -> dict[str, Any]:
    import pytest

    reporter = _Reporter(order["root"])
    is_known = any(entry.value == _PLUGIN for entry in entry_points(group="pytest11"))
    ours = [] if is_known else ["-p", _PLUGIN]
    code = pytest.main([*ours, "-p", "no:cacheprovider", *order["arguments"]], plugins=[reporter])
    tests = [test for test in reporter.tests.values() if test["state"] is not None]
    return {"tests": tests, "is_complete": int(code) in _RAN}


if __name__ == "__main__":
    main()
