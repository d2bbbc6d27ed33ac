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
