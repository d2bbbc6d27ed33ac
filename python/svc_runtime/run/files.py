"""ObjectStoragePath: recorded as a path with a connection; local files work without any package."""

from __future__ import annotations

from urllib.parse import urlsplit


class ObjectStoragePath:
    def __init__(self, *parts, conn_id: str | None = None, **storage_options) -> None:
        first = str(parts[0]) if parts else ""
        self.raw = "/".join([first.rstrip("/") if len(parts) > 1 else first, *[str(p).strip("/") for p in parts[1:]]])
        self.conn_id = conn_id
        self.storage_options = storage_options

    @property
    def protocol(self) -> str:
        return urlsplit(self.raw).scheme or "file"

    @property
    def name(self) -> str:
        return self.raw.rstrip("/").rpartition("/")[2]

    def joinpath(self, *parts) -> ObjectStoragePath:
        return ObjectStoragePath(self.raw, *parts, conn_id=self.conn_id, **self.storage_options)

    def __truediv__(self, other) -> ObjectStoragePath:
        return self.joinpath(other)

    def _local(self) -> str:
        if self.protocol != "file":
            from ..exceptions import RecordingError

            raise RecordingError(
                f"opening {self.raw!r} needs a storage provider",
                "Use the provider's hook inside the task, or a local path",
            )
        return urlsplit(self.raw).path if self.raw.startswith("file:") else self.raw

    def open(self, mode: str = "r", **kwargs):
        return open(self._local(), mode, **kwargs)

    def exists(self) -> bool:
        import os

        return os.path.exists(self._local())

    def __fspath__(self) -> str:
        return self.raw

    def __str__(self) -> str:
        return self.raw

    def __repr__(self) -> str:
        return f"ObjectStoragePath({self.raw!r})"
