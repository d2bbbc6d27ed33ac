"""The runs of the test that is running, and where it is. The plugin of pytest sets and reads this."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .results import RunResult

# None outside of a test.
test_file: str | None = None
updates_snapshots = False
runs: list[RunResult] = []


def begin(path: str, *, updates: bool) -> None:
    global test_file, updates_snapshots
    test_file, updates_snapshots = path, updates
    runs.clear()


def end() -> None:
    global test_file
    test_file = None
    runs.clear()
