"""What the process of an attempt has used, with the processes it has started and waited for.

The kernel counts it from the fork on, so that reading it at the end takes two system calls (4 µs). The memory is the private part:
pages that a process shares with its server, or with other attempts, cost nothing for one attempt more.

A short attempt has no time to look at its pages (0.2 ms for 20 MB), so its memory is what it has added since it got its job.
"""

from __future__ import annotations

import os
import resource
import time

_BLOCK = 512
_KIB = 1024
# From this time on a look at the pages is less than a thousandth of the attempt.
_LONG_SECONDS = 0.3
_MAPS = "/proc/self/smaps_rollup"
_MAPS_BYTES = 4096


class Usage:
    """Made when the process gets its job."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        # A child starts with the peak of its parent.
        self._inherited = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def message(self) -> dict:
        own = resource.getrusage(resource.RUSAGE_SELF)
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = time.monotonic() - self._began
        private = max(0, own.ru_maxrss - self._inherited)
        if seconds >= _LONG_SECONDS:
            private = max(private, _private_peak(own.ru_maxrss))
        # Until a started program replaces it, a child has the memory of this process, so a smaller peak says nothing.
        if ended.ru_maxrss > own.ru_maxrss:
            private += ended.ru_maxrss
        return {
            "cpu": round(own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime, 6),
            "run": round(seconds, 6),
            "memory": private * _KIB,
            "read": (own.ru_inblock + ended.ru_inblock) * _BLOCK,
            "written": (own.ru_oublock + ended.ru_oublock) * _BLOCK,
        }


def _private_peak(peak: int) -> int:
    """In KiB: what is private now, and what was given back since the peak. 0 where the kernel does not say."""
    try:
        descriptor = os.open(_MAPS, os.O_RDONLY)
        try:
            text = os.read(descriptor, _MAPS_BYTES)
        finally:
            os.close(descriptor)
    except OSError:
        return 0
    sizes = {}
    for line in text.splitlines()[1:]:
        name, _, size = line.partition(b":")
        sizes[name] = int(size.split()[0])
    private = sizes.get(b"Private_Clean", 0) + sizes.get(b"Private_Dirty", 0) + sizes.get(b"Swap", 0)
    return private + max(0, peak - sizes.get(b"Rss", peak))
