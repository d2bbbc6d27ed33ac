"""How a sensor waits for its next poke. A test that moves its clock does not wait."""

from __future__ import annotations

import contextlib
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pause: Callable[[float], None] = time.sleep


@contextlib.contextmanager
def waits_by(own: Callable[[float], None]) -> Iterator[None]:
    global pause
    before, pause = pause, own
    try:
        yield
    finally:
        pause = before
