"""Reads pickles of plain data. svc migrate runs it with `python -I`, because Airflow 2 pickles the conf of a run.

Standard input has one pickle in base64 in each line. Standard output has one line for each: its JSON text, or nothing if
the pickle has more than plain data (None, booleans, numbers, texts, lists, tuples, dicts) or cannot be read. A pickle can
run code only through a class or a function that it names, and find_class refuses every name.
"""

from __future__ import annotations

import base64
import io
import json
import pickle
import sys

# A few bytes of a pickle can ask for any amount of memory.
_MEMORY_AT_MOST = 2 << 30


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str) -> object:
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is not plain data")


def as_json(pickled: bytes) -> str:
    try:
        value = _PlainUnpickler(io.BytesIO(pickled)).load()
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()  # half a surrogate pair cannot be stored
    except Exception:  # a damaged pickle may raise any of them, and all mean the same
        return ""
    return text


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_AT_MOST, _MEMORY_AT_MOST))
    except (ImportError, ValueError, OSError):  # not every system has this limit
        pass


if __name__ == "__main__":
    _limit_memory()
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(as_json(base64.b64decode(line)).encode() + b"\n")
