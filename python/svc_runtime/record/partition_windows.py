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


class WaitPolicy:
    def to_spec(self) -> dict:
        raise RecordingError(
            f"{type(self).__name__} is a wait policy of the author's own, and its code does not run in the control plane",
            "Use WaitForAll() or MinimumCount(n)",
        )


class WaitForAll(WaitPolicy):
    def to_spec(self) -> dict:
        return {"wait": "all"}


class MinimumCount(WaitPolicy):
    """`MinimumCount(5)`: at least 5 keys. `MinimumCount(-3)`: at most 3 are missing."""

    def __init__(self, n: int) -> None:
        if isinstance(n, bool) or not isinstance(n, int):
            raise ValueError(f"MinimumCount takes a whole number, not {n!r}")
        if n == 0:
            raise ValueError("MinimumCount(0) starts a run without any key: use WaitForAll() or another number")
        self.n = n

    def to_spec(self) -> dict:
        return {"wait": "minimum", "count": self.n}
