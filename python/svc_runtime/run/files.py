"""`ObjectStoragePath`: a path in any object store, used like `pathlib.Path`.

`scheme://bucket/key`, with a connection as `scheme://conn_id@bucket/key` or by `conn_id=`, which is the stronger. Making and
joining paths needs no package and touches no store; the first use of one asks object_stores.py for its filesystem.
"""

from __future__ import annotations

import contextlib
import os
import shutil

from .object_stats import ObjectStat
from .object_stores import ObjectStore, store_of
from .path_parts import ADDRESS, PathParts


class ObjectStoragePath(PathParts):
    __version__ = 1

    @property
    def store(self) -> ObjectStore:
        return store_of("file" if self._is_local else self._protocol, self.conn_id, self._options)

    @property
    def fs(self):
        return self.store.fs

    def _there(self) -> str:
        """For calls of the filesystem."""
        fs = self.fs
        if self._is_local:
            return fs._strip_protocol(os.path.abspath(self._rest))
        # One that was attached or that a provider made may go by another name than the scheme.
        known = (fs.protocol,) if isinstance(fs.protocol, str) else fs.protocol
        return fs._strip_protocol(self._url if self._protocol in known else self._rest)

    def _named(self, name: str) -> ObjectStoragePath:
        """A name that the filesystem has given."""
        text = str(name)
        address = ADDRESS.fullmatch(text)
        if address:
            text = address.group(2)
        return self._like(text if self._is_local else text.lstrip("/"))

    # What is there.

    def exists(self, **_) -> bool:
        return self.fs.exists(self._there())

    def is_dir(self, **_) -> bool:
        return self.fs.isdir(self._there())

    def is_file(self, **_) -> bool:
        return self.fs.isfile(self._there())

    def is_symlink(self) -> bool:
        return self._is_local and os.path.islink(self._rest)

    def stat(self, **_) -> ObjectStat:
        return ObjectStat(self.fs.info(self._there()), self)

    def size(self) -> int:
        return self.fs.size(self._there())

    def checksum(self) -> int:
        """Changes with the object's version."""
        return self.fs.checksum(self._there())

    def ukey(self) -> str:
        return self.fs.ukey(self._there())

    def sign(self, expiration: int = 100, **kwargs) -> str:
        """An address by which others may read it for so many seconds."""
        return self.fs.sign(self._there(), expiration=expiration, **kwargs)

    def read_block(self, offset: int, length: int | None, delimiter: bytes | None = None) -> bytes:
        return self.fs.read_block(self._there(), offset, length, delimiter=delimiter)

    def iterdir(self):
        here = self._there()
        for name in sorted(self.fs.ls(here, detail=False)):
            # Some stores have an object for the folder itself.
            if str(name).rstrip("/") != here.rstrip("/"):
                yield self._named(str(name).rstrip("/"))

    def glob(self, pattern: str, **_):
        for name in sorted(self.fs.glob(f"{self._there().rstrip('/')}/{pattern}")):
            yield self._named(name)

    def rglob(self, pattern: str, **_):
        yield from self.glob(f"**/{pattern}")

    def walk(self, **_):
        for folder, folders, files in self.fs.walk(self._there()):
            yield self._named(folder), list(folders), list(files)

    # Reading and writing.

    def open(self, mode: str = "r", buffering: int = -1, encoding=None, errors=None, newline=None, **kwargs):
        how = {"encoding": encoding, "errors": errors, "newline": newline}
        wanted = {name: value for name, value in how.items() if value is not None}
        made = self.fs.open(self._there(), mode=mode, **wanted, **kwargs)
        self._tell("read" if "r" in mode and "+" not in mode else "write")
        return made

    def read_bytes(self) -> bytes:
        with self.open("rb") as file:
            return file.read()

    def read_text(self, encoding=None, errors=None) -> str:
        with self.open("r", encoding=encoding, errors=errors) as file:
            return file.read()

    def write_bytes(self, data) -> int:
        with self.open("wb") as file:
            return file.write(memoryview(data))

    def write_text(self, data: str, encoding=None, errors=None, newline=None) -> int:
        if not isinstance(data, str):
            raise TypeError(f"data must be str, not {type(data).__name__}")
        with self.open("w", encoding=encoding, errors=errors, newline=newline) as file:
            return file.write(data)

    def touch(self, mode: int = 0o666, exist_ok: bool = True, truncate: bool = False, **kwargs) -> None:
        if self.exists():
            if not exist_ok:
                raise FileExistsError(str(self))
            if not truncate and not self._is_local:
                return  # most stores cannot change the time alone
        self.fs.touch(self._there(), truncate=truncate or not self._is_local, **kwargs)

    def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        """Stores without folders have them by the objects in them; a bucket is made."""
        if self.exists() and not self.is_dir():
            raise FileExistsError(str(self))
        if parents or exist_ok:
            if not exist_ok and self.is_dir():
                raise FileExistsError(str(self))
            if not parents and self._is_local and not self.parent.exists():
                raise FileNotFoundError(str(self.parent))
            self.fs.makedirs(self._there(), exist_ok=exist_ok)
            return
        if self.is_dir():
            raise FileExistsError(str(self))
        self.fs.mkdir(self._there(), create_parents=False)

    def unlink(self, missing_ok: bool = False) -> None:
        if not self.exists():
            if missing_ok:
                return
            raise FileNotFoundError(str(self))
        self.fs.rm(self._there(), recursive=False)

    def rmdir(self, recursive: bool = True) -> None:
        if not self.is_dir():
            raise NotADirectoryError(str(self))
        if not recursive and next(self.iterdir(), None) is not None:
            raise OSError(f"{self} is not empty")
        self.fs.rm(self._there(), recursive=True)

    def rename(self, target, overwrite: bool = True) -> ObjectStoragePath:
        place = target if isinstance(target, ObjectStoragePath) else None
        if place is None:
            text = os.fspath(target)
            place = ObjectStoragePath(text) if ADDRESS.match(text) else self._beside(text)
        if not overwrite and place.exists():
            raise FileExistsError(str(place))
        self.move(place, recursive=True)
        return place

    def _beside(self, text: str) -> ObjectStoragePath:
        """A name without a scheme is of the same store."""
        if text.startswith("/"):
            return self._like(text if self._is_local else f"{self.bucket}{text}")
        return self._like(text) if self._is_local else self.parent / text

    def replace(self, target) -> ObjectStoragePath:
        return self.rename(target)

    def samestore(self, other) -> bool:
        return isinstance(other, ObjectStoragePath) and self.store == other.store

    def samefile(self, other) -> bool:
        """The same object, whatever connection it is reached by."""
        if not isinstance(other, ObjectStoragePath):
            return False
        if self.samestore(other):
            return self._there() == other._there()
        return self._protocol == other._protocol and self.ukey() == other.ukey()

    def copy(self, dst, recursive: bool = False, **kwargs) -> None:
        """In the store itself when both are there; up or down when one is local; through this process otherwise.

        A folder goes into one that is there already; between stores what is in it keeps its key.
        """
        target = dst if isinstance(dst, ObjectStoragePath) else ObjectStoragePath(dst)
        if self.is_dir() and not recursive:
            raise IsADirectoryError(f"{self} is a folder: copy(…, recursive=True)")
        if self.samestore(target):
            self.fs.copy(self._there(), target._there(), recursive=recursive, **kwargs)
        elif self._is_local:
            target.fs.put(self._there(), target._there(), recursive=recursive, **kwargs)
        elif target._is_local:
            self.fs.get(self._there(), target._there(), recursive=recursive, **kwargs)
        else:
            self._stream(target, **kwargs)
        self._tell("read")
        target._tell("write")

    def _stream(self, target: ObjectStoragePath, **kwargs) -> None:
        """Between two stores. What goes into a folder keeps its whole key, as in Airflow."""
        here = self._there()
        if self.is_dir():
            pairs = [(name, target / self._named(name).key) for name in self.fs.find(here)]
        else:
            pairs = [(here, target / self.key if target.is_dir() else target)]
        for name, place in pairs:
            if not place.parent.exists():
                with contextlib.suppress(NotImplementedError):
                    place.fs.makedirs(place.parent._there(), exist_ok=True)
            with self.fs.open(name, "rb") as source, place.fs.open(place._there(), "wb", **kwargs) as sink:
                shutil.copyfileobj(source, sink, 1 << 20)

    def move(self, dst, recursive: bool = False, **kwargs) -> None:
        target = dst if isinstance(dst, ObjectStoragePath) else ObjectStoragePath(dst)
        if self.samestore(target):
            self.fs.mv(self._there(), target._there(), recursive=recursive, **kwargs)
            return
        self.copy(target, recursive=recursive, **kwargs)
        self.fs.rm(self._there(), recursive=recursive)

    def _tell(self, what: str) -> None:
        """To the lineage of the task."""
        from .lineage import get_hook_lineage_collector

        collector = get_hook_lineage_collector()
        add = collector.add_input_asset if what == "read" else collector.add_output_asset
        with contextlib.suppress(Exception):  # lineage must never be what fails a task
            add(context=self, uri=self.as_uri())

    def svc_rendered(self, render) -> ObjectStoragePath:
        """As a template field of an operator."""
        return self._like(render(self._rest))

    # Between tasks.

    def serialize(self) -> dict:
        return {"path": str(self), "conn_id": self.conn_id, "kwargs": dict(self._options)}

    @classmethod
    def deserialize(cls, data: dict, version: int = 1) -> ObjectStoragePath:
        if version > cls.__version__:
            raise ValueError(f"the path was written in version {version}, which is newer than {cls.__version__}")
        return cls(data["path"], conn_id=data.get("conn_id"), **(data.get("kwargs") or {}))
