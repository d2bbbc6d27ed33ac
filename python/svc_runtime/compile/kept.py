"""What compiling a file found at some cost (the graph of a dbt project takes seconds), for the next compile of the same file.

By the file's path: a file is handed only what it left itself, so that one cannot mislead another. In memory, and in a folder when
there is one, for the next process. The server writes it; files that are compiled have no right to.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile


class Kept:
    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder
        self._known: dict[str, dict] = {}

    def of(self, path: str) -> dict:
        if path not in self._known and self._folder is not None:
            try:
                with open(self._file(path), encoding="utf-8") as file:
                    found = json.load(file)
                if isinstance(found, dict):
                    self._known[path] = found
            except (OSError, ValueError):
                pass  # nothing was kept, or nothing that can be used
        return self._known.get(path, {})

    def keep(self, path: str, values: object) -> None:
        if not isinstance(values, dict):
            return
        self._known[path] = values
        if self._folder is None:
            return
        try:
            if not values:
                os.unlink(self._file(path))
                return
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            descriptor, unfinished = tempfile.mkstemp(dir=self._folder)
            with open(descriptor, "w", encoding="utf-8") as file:
                json.dump(values, file)
            os.replace(unfinished, self._file(path))
        except OSError:
            return  # a disk that is full or not ours costs time, not the compile

    def _file(self, path: str) -> str:
        name = hashlib.sha256(os.path.abspath(path).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return os.path.join(self._folder or "", f"{name}.json")
