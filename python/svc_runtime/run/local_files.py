"""Local files by the part of fsspec's interface that paths use, for environments without fsspec."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import shutil


class LocalFiles:
    protocol = ("file", "local")
    fsid = "local"

    @staticmethod
    def _strip_protocol(path: str) -> str:
        path = path.removeprefix("file://").removeprefix("local://")
        return path if path == "/" else path.rstrip("/")

    def open(self, path: str, mode: str = "rb", block_size=None, cache_options=None, compression=None, **kwargs):
        if compression is not None:
            raise ValueError("reading or writing compressed needs fsspec: install it in the environment of the task")
        return open(path, mode, **kwargs)

    def info(self, path: str) -> dict:
        found = os.stat(path)
        kind = "directory" if os.path.isdir(path) else "file" if os.path.isfile(path) else "other"
        return {
            "name": path,
            "size": found.st_size,
            "type": kind,
            "created": found.st_ctime,
            "mtime": found.st_mtime,
            "mode": found.st_mode,
            "uid": found.st_uid,
            "gid": found.st_gid,
            "ino": found.st_ino,
            "nlink": found.st_nlink,
        }

    def ls(self, path: str, detail: bool = False, **_) -> list:
        names = [os.path.join(path, name) for name in sorted(os.listdir(path))]
        return [self.info(name) for name in names] if detail else names

    def exists(self, path: str, **_) -> bool:
        return os.path.exists(path)

    def isdir(self, path: str) -> bool:
        return os.path.isdir(path)

    def isfile(self, path: str) -> bool:
        return os.path.isfile(path)

    def glob(self, path: str, **_) -> list[str]:
        return sorted(glob.glob(path, recursive=True))

    def find(self, path: str, **_) -> list[str]:
        if os.path.isfile(path):
            return [path]
        return sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)

    def walk(self, path: str, **_):
        yield from os.walk(path)

    def mkdir(self, path: str, create_parents: bool = True, **_) -> None:
        if create_parents:
            os.makedirs(path)
        else:
            os.mkdir(path)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        os.makedirs(path, exist_ok=exist_ok)

    def touch(self, path: str, truncate: bool = True, **_) -> None:
        with open(path, "wb" if truncate else "ab"):
            os.utime(path)

    def rm_file(self, path: str) -> None:
        os.remove(path)

    def rmdir(self, path: str) -> None:
        os.rmdir(path)

    def rm(self, path: str, recursive: bool = False, **_) -> None:
        if recursive and os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.remove(path)

    def copy(self, path1: str, path2: str, recursive: bool = False, **_) -> None:
        """As `cp -r`: a folder goes into one that is there, and makes one that is not."""
        into = os.path.isdir(path2)
        target = os.path.join(path2, os.path.basename(path1.rstrip("/"))) if into or path2.endswith("/") else path2
        if os.path.isdir(path1):
            if recursive:
                shutil.copytree(path1, target, dirs_exist_ok=True)
            return
        with contextlib.suppress(FileNotFoundError):
            os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
        shutil.copyfile(path1, target)

    def mv(self, path1: str, path2: str, recursive: bool = False, **_) -> None:
        shutil.move(path1, path2)

    def checksum(self, path: str) -> int:
        return int(hashlib.sha256(repr(sorted(self.info(path).items())).encode()).hexdigest(), 16)

    def ukey(self, path: str) -> str:
        return hashlib.sha256(repr(sorted(self.info(path).items())).encode()).hexdigest()

    def size(self, path: str) -> int:
        return os.path.getsize(path)

    def sign(self, path: str, expiration: int = 100, **_) -> str:
        raise NotImplementedError("local files have no address that could be signed")

    def read_block(self, path: str, offset: int, length: int | None, delimiter: bytes | None = None) -> bytes:
        if delimiter is not None:
            raise ValueError("blocks up to a delimiter need fsspec: install it in the environment of the task")
        with open(path, "rb") as file:
            file.seek(offset)
            return file.read(-1 if length is None else length)
