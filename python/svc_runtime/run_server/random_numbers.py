"""Random numbers of attempts that are forked from one process: each attempt has its own, unless the DAG file seeds them.

That is how it is where every task loads the file for itself. A fork knows less: Python seeds its generator anew in every child,
whatever the file has said, and numpy in none, so that all attempts would draw the same.
"""

from __future__ import annotations

import contextlib
import os
import random
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

_NUMPY_SEED = struct.Struct("8I")


class RandomNumbers:
    def __init__(self) -> None:
        # Of Python's generator, where the file has seeded it.
        self._state: tuple | None = None

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """While the DAG file is loaded, in the server."""
        seed, is_seeded = random.seed, False

        def seed_and_note(a: Any = None, version: int = 2) -> None:  # named as Python's own: some give them by name
            nonlocal is_seeded
            seed(a, version)
            is_seeded = a is not None

        random.seed = seed_and_note
        try:
            yield
        finally:
            if random.seed is seed_and_note:
                random.seed = seed
        if is_seeded:
            self._state = random.getstate()

    def begin(self) -> None:
        """In a child, before the body."""
        if self._state is not None:
            random.setstate(self._state)
        numpy = sys.modules.get("numpy.random.mtrand")
        if numpy is not None:
            with contextlib.suppress(Exception):  # not a numpy that is known
                _begin_numpy(numpy)


def _begin_numpy(numpy: ModuleType) -> None:
    generator = getattr(numpy._rand, "_bit_generator", None)
    # It forgets what it was seeded from when somebody seeds it; before, it is the machine's noise.
    if getattr(generator, "_seed_seq", True) is not None:
        numpy.seed(_NUMPY_SEED.unpack(os.urandom(_NUMPY_SEED.size)))
