"""Runs test modules and reports every single test, as JSON lines on descriptor 3.

    python tests/report.py TOP             lists: {"module", "ids": […]} for each module below TOP/tests
    python tests/report.py TOP MODULE      runs one: {"id", "status", "text"} for each test as it ends

`status` is passed, failed or skipped. An error that belongs to no test, such as one in setUpClass, is reported under a name
that was never listed. Standard output and error stay the tests' own.
"""

from __future__ import annotations

import json
import os
import sys
import unittest
from collections.abc import Iterator

_REPORT = 3


def _say(message: dict) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(_REPORT, data) :]


class Reporter(unittest.TestResult):
    """A test with subtests fails with all of theirs."""

    def __init__(self) -> None:
        super().__init__()
        self._status = "passed"
        self._texts: list[str] = []

    def startTest(self, test) -> None:
        super().startTest(test)
        self._status, self._texts = "passed", []

    def stopTest(self, test) -> None:
        super().stopTest(test)
        _say({"id": test.id(), "status": self._status, "text": "\n".join(self._texts)})

    def _note(self, test, status: str, text: str) -> None:
        if isinstance(test, unittest.TestCase):
            self._status = status if self._status != "failed" else "failed"
            self._texts.append(text)
        else:
            _say({"id": test.id(), "status": status, "text": text})

    def addFailure(self, test, err) -> None:
        super().addFailure(test, err)
        self._note(test, "failed", self.failures[-1][1])

    def addError(self, test, err) -> None:
        super().addError(test, err)
        self._note(test, "failed", self.errors[-1][1])

    def addSubTest(self, test, subtest, err) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            text = (self.failures if issubclass(err[0], test.failureException) else self.errors)[-1][1]
            self._note(test, "failed", f"{subtest}\n{text}")

    def addSkip(self, test, reason: str) -> None:
        super().addSkip(test, reason)
        self._note(test, "skipped", reason)

    def addUnexpectedSuccess(self, test) -> None:
        super().addUnexpectedSuccess(test)
        self._note(test, "failed", "it was expected to fail")


def _discover(top: str, pattern: str) -> unittest.TestSuite:
    return unittest.defaultTestLoader.discover(os.path.join(top, "tests"), pattern=pattern, top_level_dir=top)


def _tests(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from _tests(item)
        else:
            yield item


def _module_of(test: unittest.TestCase) -> str:
    # A module that cannot be imported is a test of that name, which says why.
    failed = type(test).__module__ == "unittest.loader"
    return str(test).split(" ")[0] if failed else type(test).__module__


def main(top: str, module: str | None = None) -> None:
    sys.path[0] = top  # instead of this script's folder
    if module is not None:
        _discover(top, f"{module.rpartition('.')[2]}.py").run(Reporter())
        return
    found: dict[str, list[str]] = {}
    for test in _tests(_discover(top, "test_*.py")):
        found.setdefault(_module_of(test), []).append(test.id())
    for name, ids in found.items():
        _say({"module": name, "ids": ids})


if __name__ == "__main__":
    main(*sys.argv[1:])
