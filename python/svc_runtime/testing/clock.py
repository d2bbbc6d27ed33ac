"""The clock of a test. Moving it moves `datetime.now()` and `time.time()` of the whole process, by the package time-machine."""

from __future__ import annotations

import contextlib
import datetime
import signal
import threading
import time

from ..record.timezones import to_utc
from ..run.moments import moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    import pendulum

_UTC = datetime.timezone.utc
_CLOCKS = ("time", "monotonic", "perf_counter")
_LEAST_SECONDS = 0.001


class ClockNotMovable(RuntimeError):
    """The package that moves the clock is not installed."""


def read_moment(value, zone=_UTC) -> datetime.datetime:
    """In UTC. A text, a date, or a moment without a time zone counts in `zone`."""
    if isinstance(value, str):
        from ..record.timezones import parse_iso

        value = parse_iso(value)
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime.datetime):
        raise TypeError(f"expected a moment (datetime, date or ISO text), not {value!r}")
    return to_utc(value if value.tzinfo is not None else value.replace(tzinfo=zone))


class Clock:
    """Runs with the machine until it is moved, and goes on from there."""

    # A clock that cannot move lets a retry start at once, and waits for everything else.
    is_movable = True

    def __init__(self) -> None:
        self._travel: Any = None
        self._moved: Any = None

    def now(self) -> pendulum.DateTime:
        """In UTC."""
        return moment(datetime.datetime.now(_UTC))

    def move_to(self, when) -> None:
        """To a datetime, a date or an ISO text; without a time zone, in UTC."""
        at = read_moment(when).timestamp()
        if self._moved is None:
            try:
                import time_machine
            except ModuleNotFoundError:
                raise ClockNotMovable(
                    f"this test moves the clock to {when}, which needs the package time-machine: "
                    "pip install 'svc-airflow[test]'"
                ) from None
            self._travel = time_machine.travel(at, tick=True)
            self._moved = self._travel.start()
        else:
            self._moved.move_to(at)

    def move(self, by: datetime.timedelta | None = None, **parts: float) -> None:
        """`move(timedelta(hours=2))` or `move(hours=2)`."""
        self.move_to(datetime.datetime.now(_UTC) + (datetime.timedelta(**parts) if by is None else by))

    def exact(self) -> datetime.datetime:
        return datetime.datetime.now(_UTC)

    @contextlib.contextmanager
    def of_body(self) -> Iterator[None]:
        """While the body of a task runs."""
        yield

    def close(self) -> None:
        """Shows the time of the machine again."""
        if self._travel is not None:
            self._travel.stop()
        self._travel = self._moved = None


class WaitingClock(Clock):
    """That of the machine: it gets to a moment by waiting."""

    is_movable = False

    def move_to(self, when) -> None:
        time.sleep(max(0.0, (read_moment(when) - datetime.datetime.now(_UTC)).total_seconds()))


class SkippingClock(Clock):
    """For the replay of a try whose time was over. It needs no package, and moves by what is waited for.

    `time.sleep()` of the body takes no time. It moves `time.time()`, `time.monotonic()`, `time.perf_counter()` and the
    time that execution_timeout has left. `datetime.now()`, other processes and other threads keep the time of the machine.
    """

    def __init__(self) -> None:
        super().__init__()
        self._skipped = 0.0
        self._is_entered = False

    def exact(self) -> datetime.datetime:
        return super().exact() + datetime.timedelta(seconds=self._skipped)

    def move_to(self, when) -> None:
        self._skipped += max(0.0, (read_moment(when) - self.exact()).total_seconds())

    @contextlib.contextmanager
    def of_body(self) -> Iterator[None]:
        if self._is_entered:
            yield
            return
        self._is_entered = True
        body, kept = threading.get_ident(), {name: getattr(time, name) for name in ("sleep", *_CLOCKS)}

        def sleep(seconds) -> None:
            if threading.get_ident() != body or seconds < 0:
                kept["sleep"](seconds)
                return
            left, _ = signal.getitimer(signal.ITIMER_REAL)
            self._skipped += seconds if left == 0 else min(seconds, left)
            if left > 0:
                signal.setitimer(signal.ITIMER_REAL, max(left - seconds, _LEAST_SECONDS))
                if seconds >= left:
                    kept["sleep"](seconds)  # the alarm ends it

        def shifted(name: str) -> Callable[[], float]:
            return lambda: kept[name]() + self._skipped

        time.sleep = sleep
        for name in _CLOCKS:
            setattr(time, name, shifted(name))
        try:
            yield
        finally:
            self._is_entered = False
            for name, function in kept.items():
                setattr(time, name, function)


class _Active:
    """The clock of the test that is running, if it has one."""

    clock: Clock | None = None


active = _Active()
