"""How a sensor waits for its next poke. A test that moves its clock does not wait.

The replay of a sensor that timed out pokes once: its time is over, as at the last poke of the try.
"""

from __future__ import annotations

import contextlib
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SENSOR_TIMEOUT = "sensor_timeout"
_LEAST_SECONDS = 0.001

pause: Callable[[float], None] = time.sleep
_is_over = False


def waited(seconds: float, timeout: float) -> float:
    """How long the sensor has waited."""
    return max(seconds, timeout + _LEAST_SECONDS) if _is_over else seconds


@contextlib.contextmanager
def waits_by(own: Callable[[float], None], *, is_over: bool = False) -> Iterator[None]:
    global pause, _is_over
    before, pause, _is_over = pause, own, is_over
    try:
        yield
    finally:
        pause, _is_over = before, False
