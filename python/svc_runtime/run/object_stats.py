"""What `ObjectStoragePath.stat()` answers: the names of `os.stat`, and everything else that the filesystem says."""

from __future__ import annotations

import datetime
import stat

# Filesystems have their own names for the same things.
_CHANGED = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")
_CREATED = ("created", "ctime", "timeCreated", "creation_time")


class ObjectStat(dict):
    def __init__(self, info: dict, path=None) -> None:
        super().__init__(info)
        if path is not None:
            self.protocol, self.bucket, self.key, self.conn_id = path.protocol, path.bucket, path.key, path.conn_id

    @property
    def st_size(self) -> int:
        return int(self.get("size") or 0)

    @property
    def st_mode(self) -> int:
        known = self.get("mode")
        if isinstance(known, int):
            return known
        return stat.S_IFDIR if self.get("type") == "directory" else stat.S_IFREG

    @property
    def st_mtime(self) -> float:
        return self._moment(_CHANGED)

    @property
    def st_ctime(self) -> float:
        return self._moment(_CREATED)

    @property
    def st_uid(self) -> int:
        return int(self.get("uid") or 0)

    @property
    def st_gid(self) -> int:
        return int(self.get("gid") or 0)

    @property
    def st_ino(self) -> int:
        return int(self.get("ino") or 0)

    @property
    def st_dev(self) -> int:
        return int(self.get("dev") or 0)

    @property
    def st_nlink(self) -> int:
        return int(self.get("nlink") or 0)

    def _moment(self, names: tuple[str, ...]) -> float:
        """Seconds; 0 where the store does not say."""
        value = next((self[name] for name in names if self.get(name) is not None), 0)
        if isinstance(value, str):
            value = datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
        return value.timestamp() if isinstance(value, datetime.datetime) else float(value)
