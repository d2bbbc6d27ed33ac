"""Windows and wait policies of partitions, as data: the control plane applies them (timetables/partition-windows.ts)."""

from __future__ import annotations

import datetime
import enum
from collections.abc import Iterable

from ..exceptions import RecordingError


class _Direction(str, enum.Enum):
    """Whether a window is the period that starts with a key, or the one that ends with it."""

    FORWARD = "forward"
    BACKWARD = "backward"


class Window:
    """The parts of a period. A class of an author's own is refused where a mapper uses it."""

    Direction = _Direction
    expected_decoded_type: type = str
    unit = ""

    def __init__(self, *, direction: _Direction = _Direction.FORWARD) -> None:
        self.direction = _Direction(direction)

    def to_spec(self) -> dict:
        if not type(self).__module__.startswith("svc_runtime.") or not self.unit:
            raise RecordingError(
                f"{type(self).__name__} is a window of the author's own, and its code does not run in the control plane",
                "Use HourWindow, DayWindow, WeekWindow, MonthWindow, QuarterWindow, YearWindow or SegmentWindow",
            )
        return {"window": self.unit, "direction": self.direction.value}

    def serialize(self) -> dict:
        return {"direction": self.direction.value}

    @classmethod
    def deserialize(cls, data: dict) -> Window:
        return cls(**data)


class _OfTime(Window):
    expected_decoded_type = datetime.datetime


class HourWindow(_OfTime):
    unit = "hour"


class DayWindow(_OfTime):
    unit = "day"


class WeekWindow(_OfTime):
    unit = "week"


class MonthWindow(_OfTime):
    unit = "month"


class QuarterWindow(_OfTime):
    unit = "quarter"


class YearWindow(_OfTime):
    unit = "year"


class SegmentWindow(Window):
    """Keys that belong together, such as the regions of a report."""

    unit = "segments"

    def __init__(self, segments: Iterable[str]) -> None:
        super().__init__()
        self.segments = sorted(set(segments), key=str)
        if not self.segments:
            raise ValueError("SegmentWindow needs at least one segment")
        for segment in self.segments:
            if not isinstance(segment, str) or not segment:
                raise ValueError(f"a segment of SegmentWindow is a text that is not empty, not {segment!r}")

    def to_spec(self) -> dict:
        return {"window": "segments", "segments": list(self.segments)}

    def serialize(self) -> dict:
        return {"segments": list(self.segments)}


# How many parts a window may have.
_SIZES = {"hour": (60,), "day": (24,), "week": (7,), "month": (28, 29, 30, 31), "quarter": (3,), "year": (12,)}


def sizes_of(window: Window) -> tuple[int, ...]:
    return (len(window.segments),) if isinstance(window, SegmentWindow) else _SIZES[window.unit]


class WaitPolicy:
    """An author's own policy is asked when the file is compiled: for each size of the window, which numbers are enough."""

    def is_satisfied(self, matched: int, expected: int) -> bool:
        raise RecordingError(
            f"the wait policy {type(self).__name__} has no is_satisfied()",
            "Write is_satisfied(self, matched, expected), or use WaitForAll() or MinimumCount(n)",
        )

    def to_spec(self, window: Window) -> dict:
        if hasattr(type(self), "is_satisfied_by_keys"):
            raise RecordingError(
                f"the wait policy {type(self).__name__} looks at the keys themselves, and its code does not run in the"
                " control plane",
                "Decide by numbers in is_satisfied(self, matched, expected)",
            )
        return {"wait": "table", "counts": [self._row(expected) for expected in sizes_of(window)]}

    def _row(self, expected: int) -> dict:
        answers = [bool(self.is_satisfied(matched, expected)) for matched in range(expected + 1)]
        count = answers.index(True) if True in answers else None
        if count is None or not all(answers[count:]):
            wrong = (
                "is not satisfied by all of them"
                if count is None
                else "is not satisfied by more than a number that is enough"
            )
            raise RecordingError(
                f"the wait policy {type(self).__name__} {wrong}, of {expected} keys", "Let more keys be enough, too"
            )
        return {"expected": expected, "count": count}


class WaitForAll(WaitPolicy):
    def is_satisfied(self, matched: int, expected: int) -> bool:
        return matched >= expected

    def to_spec(self, window: Window) -> dict:
        if type(self) is not WaitForAll:
            return super().to_spec(window)
        return {"wait": "all"}


class MinimumCount(WaitPolicy):
    """`MinimumCount(5)`: at least 5 keys. `MinimumCount(-3)`: at most 3 are missing."""

    def __init__(self, n: int) -> None:
        if isinstance(n, bool) or not isinstance(n, int):
            raise ValueError(f"MinimumCount takes a whole number, not {n!r}")
        if n == 0:
            raise ValueError("MinimumCount(0) starts a run without any key: use WaitForAll() or another number")
        self.n = n

    def is_satisfied(self, matched: int, expected: int) -> bool:
        return matched >= (self.n if self.n > 0 else max(0, expected + self.n))

    def to_spec(self, window: Window) -> dict:
        if type(self) is not MinimumCount:
            return super().to_spec(window)
        return {"wait": "minimum", "count": self.n}
