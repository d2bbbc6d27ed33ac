"""Notes what a DAG file depends on while it loads, so that the same answer is given again only while all of it is the same.

    files        opened, or looked for in vain: by content
    looks        asked for by `os.stat` and its like, and every place where an import would look first
    folders      listed: by the names in them
    packages     folders of the path that may name plugins: by the names of packages in them
    environment  variables that were read

An answer that depends on anything else is not kept, and `reason` says why: the time, chance, programs, the network, files that were
written. Standard library, installed packages and svc itself are not noted, because the cache knows their state (cache.py).

The notes come from audit events, which a file cannot switch off, and from wrappers around functions without such an event. Python
has no event for a look at the clock either: code that names such a function counts as reading the clock when it is executed.
"""

from __future__ import annotations

import dis
import hashlib
import os
import posix
import re
import stat
import sys
import threading
import time
from importlib.machinery import all_suffixes
from types import CodeType

from ..package_names import packages_in
from . import own_folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

MOST_NOTES = 2_000
MOST_BYTES = 16 * 1024 * 1024
# A file that was written just now may be written again without another time.
_SETTLED_NS = 20_000_000
_IMPORTER = "<frozen importlib._bootstrap_external>"
# Whatever is not among these may depend on something that cannot be noted.
_HARMLESS = frozenset(
    "array.__new__ builtins.id code.__new__ compile cpython._PySys_ClearAuditHooks ctypes.dlsym exec function.__new__ gc.get_objects "
    "gc.get_referents gc.get_referrers glob.glob glob.glob/2 import marshal.dumps marshal.load marshal.loads object.__delattr__ "
    "object.__getattr__ object.__setattr__ os.chdir os.fwalk os.putenv os.unsetenv os.walk pathlib.Path.glob pathlib.Path.rglob pickle.find_class "
    "sys._getframe sys._getframemodulename sys.addaudithook sys.excepthook sys.setprofile sys.settrace sys.unraisablehook time.sleep".split()
)
# What gives another answer each time, by the last word of how it is called.
_CHANGING = frozenset(
    "now today utcnow yesterday tomorrow days_ago time_ns localtime gmtime ctime perf_counter monotonic process_time clock_gettime "
    "uuid1 uuid4 urandom getrandom randint randrange choice choices shuffle sample uniform gauss getrandbits randbytes token_hex token_bytes "
    "token_urlsafe get_random_string getpid getppid getuid getlogin getuser gethostname getfqdn uname node cpu_count getloadavg round_time date_range".split()
)
# Names of modules as well, so they count where they are taken from something, or were imported by themselves.
_AMBIGUOUS = frozenset(("time", "random"))
_ALL_CHANGING = _CHANGING | _AMBIGUOUS
# Passed on to other code, which calls it: `default_factory=datetime.now`.
_GIVEN = re.compile(rb"\.(?:now|today|utcnow|time|time_ns|uuid1|uuid4|random|urandom)\b(?!\s*[(.=])")
_SUFFIXES = ("", *all_suffixes())


def installed_folders() -> tuple[str, ...]:
    """Of the standard library, of packages, and our own."""
    places = [os.path.dirname(os.__file__), *own_folders()]
    places += [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    return tuple(sorted({os.path.realpath(path) + os.sep for path in places} | {path + os.sep for path in places}))


def kind_of(path: str) -> list | None:
    """What `looks` keeps: nothing, a folder, or a file of a size and a time; of a link where it leads as well."""
    try:
        info = posix.lstat(path)
        link = []
        if stat.S_ISLNK(info.st_mode):
            link = [posix.readlink(path)]
            info = posix.stat(path)
    except OSError:
        return None
    if stat.S_ISREG(info.st_mode):
        return ["file", info.st_size, info.st_mtime_ns, *link]
    return ["folder", *link] if stat.S_ISDIR(info.st_mode) else ["other", *link]


def content_of(path: str) -> tuple[str | None, bytes]:
    """What `files` keeps: the hash of a file with who may read it; None where there is none. Raises OSError for what is no file."""
    try:
        info = posix.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None, b""
    if not stat.S_ISREG(info.st_mode) or info.st_size > MOST_BYTES:
        raise OSError(f"{path} is no small file")
    with open(path, "rb") as file:
        content = file.read()
    return f"{hashlib.sha256(content).hexdigest()} {info.st_mode:o} {info.st_uid} {info.st_gid}", content


def names_in(folder: str) -> str:
    """What `folders` keeps."""
    with posix.scandir(folder) as entries:
        names = sorted((entry.name, entry.is_dir()) for entry in entries)
    return hashlib.sha256(repr(names).encode("utf-8", "surrogateescape")).hexdigest()


def value_in(environment: dict, name: str) -> str | None:
    """What `environment` keeps. `AIRFLOW__*` stands for all variables that begin so, and `*` for all."""
    value = environment.get(name)
    if name.endswith("*"):
        value = repr(sorted(item for item in environment.items() if item[0].startswith(name[:-1])))
    return None if value is None else hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()


class Reads:
    def __init__(self) -> None:
        self.reason: str | None = None
        self._installed = installed_folders()
        self._opened: dict[str, tuple | None] = {}
        self._looks: dict[str, None] = {}
        self._folders: dict[str, str] = {}
        self._packages: dict[str, list] = {}
        self._imported: dict[str, None] = {}
        self._variables: dict[str, None] = {}
        self._before: dict[str, str] = {}
        self._changing: set[CodeType] = set()
        self._is_noting = False

    def start(self) -> None:
        self._before = dict(os.environ)
        self._is_noting = True
        sys.addaudithook(self._hear)
        _wrap(self)

    def refuse(self, reason: str) -> None:
        """Nothing is kept of this file."""
        self.reason = self.reason or reason

    def packages(self, folder: str, names: list) -> None:
        """The listing of a folder of which only packages count."""
        self._folders.pop(folder, None)
        if not self._is_installed(folder):
            self._packages[folder] = packages_in(names)

    def _is_installed(self, path: str) -> bool:
        return f"{path}{os.sep}".startswith(self._installed)

    def _hear(self, event: str, args: tuple) -> None:
        if not self._is_noting or self.reason is not None:
            return
        if event == "open":
            self._note_open(args[0], args[1], args[2])
        elif event == "import":
            self._imported[args[0]] = None
        elif event == "exec":
            if isinstance(args[0], CodeType):
                self._note_code(args[0])
        elif event in ("os.listdir", "os.scandir"):
            if sys._getframe(1).f_code.co_filename != _IMPORTER:
                self._note_folder(args[0])
        elif event == "ctypes.dlopen":
            if args[0] is not None:
                self.refuse("it loads a library")
        elif event not in _HARMLESS:
            self.refuse(event)

    def _path(self, path: object) -> str | None:
        if isinstance(path, int) or path is None:
            self.refuse("it reads from a descriptor")
            return None
        found = os.path.abspath(os.fsdecode(path))  # type: ignore[arg-type]
        # Files in memory (/dev/shm) are as any other; everything else there has no content of its own.
        if found.startswith(("/proc/", "/sys/", "/dev/")) and not found.startswith("/dev/shm/"):
            self.refuse(f"it reads {found}")
            return None
        return None if self._is_installed(found) else found

    def _note_open(self, given: object, mode: str | None, flags: int) -> None:
        path = self._path(given)
        if path is None or path in self._opened:
            return
        if (mode is not None and set(mode) & set("wax+")) or (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            self.refuse(f"it writes {path}")
            return
        if path.endswith(".pyc") and os.path.basename(os.path.dirname(path)) == "__pycache__":
            # Its source says what is in it; the importer has compared their times.
            folder = os.path.dirname(os.path.dirname(path))
            path = os.path.join(folder, os.path.basename(path).split(".", 1)[0] + ".py")
        self._opened[path] = _state(path)

    def _note_folder(self, given: object) -> None:
        path = self._path("." if given is None else given)
        if path is None or path in self._folders:
            return
        self._is_noting = False
        try:
            self._folders[path] = names_in(path)
        except OSError:
            self._looks[path] = None
        finally:
            self._is_noting = True

    def look(self, given: object) -> None:
        if self._is_noting and self.reason is None and not isinstance(given, int):
            path = self._path(given)
            if path is not None:
                self._looks[path] = None

    def variable(self, name: object) -> None:
        if self._is_noting:
            self._variables[str(name)] = None

    def environment(self, prefix: str) -> dict:
        """The variables that begin so, without a note of all the others."""
        self.variable(f"{prefix}*")
        self._is_noting, before = False, self._is_noting
        found = {name: value for name, value in os.environ.items() if name.startswith(prefix)}
        self._is_noting = before
        return found

    def _note_code(self, code: CodeType) -> None:
        """Of a module, or of a text that is executed."""
        path = code.co_filename
        if path.startswith("<frozen") or (self._is_installed(path) and "-packages" + os.sep not in path):
            return
        is_first = not self._changing
        _find_changing(code, self._changing, frozenset())
        if code in self._changing:
            self.refuse(f"{code.co_filename} asks for the time, or for chance")
        elif self._changing and is_first:
            sys.settrace(self._see_call)

    def _see_call(self, frame: FrameType, event: str, arg: Any) -> None:
        if frame.f_code in self._changing and self._is_noting:
            self.refuse(f"{frame.f_code.co_filename}:{frame.f_code.co_firstlineno} asks for the time, or for chance")

    def result(self) -> dict:
        sys.settrace(None)
        self._is_noting = False
        if any(name.startswith(("AIRFLOW_VAR_", "AIRFLOW_CONN_")) for name in self._variables):
            self.refuse("it reads a variable or a connection")
        notes: dict = {} if self.reason is not None else self._notes()
        return notes if self.reason is None else {"reason": self.reason}

    def _notes(self) -> dict:
        looks = dict.fromkeys((*self._looks, *self._places_of_imports()))
        if len(self._opened) + len(looks) + len(self._folders) + len(self._variables) > MOST_NOTES:
            self.refuse("it reads too much")
        files: dict = {}
        for path, state in self._opened.items():
            try:
                files[path], content = content_of(path)
            except OSError as error:
                self.refuse(str(error))
                continue
            if path.endswith(".zip") or (path.endswith(".py") and _GIVEN.search(content)):
                self.refuse(f"{path} may give a function that asks for the time to others")
            if _state(path) != state or (state is not None and time.time_ns() - state[1] < _SETTLED_NS):
                self.refuse(f"{path} is being written")
        return {
            "files": files,
            "looks": {path: kind_of(path) for path in looks},
            "folders": self._folders,
            "packages": self._packages,
            "environment": {name: value_in(self._before, name) for name in sorted(self._variables)},
        }

    def _places_of_imports(self) -> list[str]:
        """Where a module of that name would be found before, or instead."""
        found = []
        for name in self._imported:
            parent, _, last = name.rpartition(".")
            above = getattr(sys.modules.get(parent), "__path__", ()) if parent else sys.path
            for folder in map(os.path.abspath, list(above)):
                if not self._is_installed(folder) and not folder.endswith(".zip"):
                    found += [os.path.join(folder, last + suffix) for suffix in _SUFFIXES]
        return found


def _state(path: str) -> tuple | None:
    try:
        info = posix.stat(path)
    except OSError:
        return None
    return (info.st_ino, info.st_mtime_ns, info.st_ctime_ns, info.st_size)


_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"}
_NAMES = {"LOAD_NAME", "LOAD_GLOBAL"}


def _find_changing(code: CodeType, found: set[CodeType], imported: frozenset[str]) -> None:
    named = _ALL_CHANGING.intersection(code.co_names)
    texts = _CHANGING.intersection(value for value in code.co_consts if isinstance(value, str))
    if named:
        by_themselves = {
            str(each.argval)
            for each in dis.get_instructions(code)
            if each.opname == "IMPORT_FROM" and each.argval in named
        }
        imported |= by_themselves & _AMBIGUOUS
        for each in dis.get_instructions(code):
            if (each.opname in _ATTRIBUTES and each.argval in named) or (
                each.opname in _NAMES and each.argval in named and (each.argval in _CHANGING or each.argval in imported)
            ):
                found.add(code)
    # getattr(datetime, "now"); texts alone are everywhere.
    if texts and "getattr" in code.co_names:
        found.add(code)
    for value in code.co_consts:
        if isinstance(value, CodeType):
            _find_changing(value, found, imported)


def _wrap(reads: Reads) -> None:
    """What has no audit event. Only in the process that loads one file."""
    for name in ("stat", "lstat", "access", "readlink"):
        setattr(os, name, _looking(reads, getattr(posix, name)))
    threading.Thread.start = _refusing(reads, threading.Thread.start)  # type: ignore[method-assign]

    class Environment(type(os.environ)):  # type: ignore[misc]
        def __getitem__(self, key: str) -> str:
            reads.variable(key)
            return super().__getitem__(key)

        def __iter__(self):
            reads.variable("*")
            return super().__iter__()

    os.environ.__class__ = Environment


def _refusing(reads: Reads, function: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        reads.refuse("it starts a thread")
        return function(*args, **kwargs)

    return call


def _looking(reads: Reads, function: Any) -> Any:
    def look(path: Any, *args: Any, **kwargs: Any) -> Any:
        reads.look(path)
        return function(path, *args, **kwargs)

    return look
