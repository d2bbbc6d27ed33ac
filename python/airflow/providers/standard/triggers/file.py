"""File triggers, used by asset watchers and deferrable sensors."""

from __future__ import annotations

import glob
import os

from svc_runtime.run.triggers import BaseEventTrigger, BaseTrigger, TriggerEvent


class FileTrigger(BaseTrigger):
    def __init__(self, filepath: str, recursive: bool = False, poke_interval: float = 5.0, **kwargs) -> None:
        super().__init__(filepath=filepath, recursive=recursive, poke_interval=poke_interval)
        self.filepath = filepath
        self.recursive = recursive
        self.poke_interval = poke_interval

    async def run(self):
        import asyncio

        while not glob.glob(self.filepath, recursive=self.recursive):
            await asyncio.sleep(self.poke_interval)
        yield TriggerEvent(True)


class FileDeleteTrigger(BaseEventTrigger):
    def __init__(self, filepath: str, poke_interval: float = 5.0, **kwargs) -> None:
        super().__init__(filepath=filepath, poke_interval=poke_interval)
        self.filepath = filepath
        self.poke_interval = poke_interval

    async def run(self):
        import asyncio

        while not os.path.isfile(self.filepath):
            await asyncio.sleep(self.poke_interval)
        os.unlink(self.filepath)
        yield TriggerEvent(True)


class DirectoryFileDeleteTrigger(BaseEventTrigger):
    """Fires when the file appears in the directory, and deletes it. Triggers of one directory share one scan."""

    def __init__(self, *, directory: str, filename: str, poke_interval: float = 5.0) -> None:
        super().__init__(directory=directory, filename=filename, poke_interval=poke_interval)
        self.directory = directory
        self.filename = filename
        self.poke_interval = poke_interval

    def shared_stream_key(self):
        return "directory-scan", self.directory, self.poke_interval

    @classmethod
    async def open_shared_stream(cls, kwargs: dict):
        import asyncio

        while True:
            yield {"directory": kwargs["directory"], "names": await asyncio.to_thread(_names_in, kwargs["directory"])}
            await asyncio.sleep(kwargs.get("poke_interval", 5.0))

    async def filter_shared_stream(self, shared_stream):
        path = os.path.join(self.directory, self.filename)
        async for scan in shared_stream:
            if self.filename not in scan["names"]:
                continue
            try:
                os.unlink(path)
            except FileNotFoundError:
                continue  # another trigger of the same file was first
            self.log.info("File %s has been deleted", path)
            yield TriggerEvent({"filepath": path})
            return

    async def run(self):
        async for event in self.filter_shared_stream(self.open_shared_stream(self.serialize()[1])):
            yield event


def _names_in(directory: str) -> set[str]:
    """A directory that does not exist yet has no files."""
    try:
        return set(os.listdir(directory))
    except FileNotFoundError:
        return set()
