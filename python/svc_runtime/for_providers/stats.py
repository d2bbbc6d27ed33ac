"""`Stats`: where providers count. Tasks of ours are measured by the control plane, so counting here goes nowhere."""

from __future__ import annotations

import contextlib


class _Timer(contextlib.ContextDecorator):
    duration: float | None = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc) -> None:
        self.stop()

    def start(self):
        import time

        self._since = time.perf_counter()
        return self

    def stop(self, send: bool = True) -> None:
        import time

        self.duration = 1000.0 * (time.perf_counter() - self._since)


class _Stats:
    @staticmethod
    def incr(stat: str, count: int = 1, rate=1, *, tags=None) -> None: ...

    @staticmethod
    def decr(stat: str, count: int = 1, rate=1, *, tags=None) -> None: ...

    @staticmethod
    def gauge(stat: str, value, rate=1, delta: bool = False, *, tags=None) -> None: ...

    @staticmethod
    def timing(stat: str, dt, *, tags=None) -> None: ...

    @staticmethod
    def timer(*args, **kwargs) -> _Timer:
        return _Timer()

    @staticmethod
    def initialize(*args, **kwargs) -> None: ...


Stats = _Stats
DualStatsManager = _Stats


incr, decr, gauge = _Stats.incr, _Stats.decr, _Stats.gauge
timing, timer = _Stats.timing, _Stats.timer


def normalize_name_for_stats(name: str, log_warning: bool = True) -> str:
    import re

    return re.sub(r"[^a-zA-Z0-9_.-]", "_", name)
