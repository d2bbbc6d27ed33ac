"""Home, temporary and working folder of one attempt, in a worker that keeps its attempts apart.

    <base>/<number>/home   HOME
    <base>/<number>/tmp    TMPDIR, also where `tempfile` looks
    <base>/<number>/work   the working directory: a link to each entry of the one the worker has, so that relative paths of a
                           repository are found; what is written beside them is the attempt's own

The server makes them before it forks, when nobody waits, and removes them when the attempt and all it had started are gone.
Nothing is followed on the way: a link is removed as a link, also when somebody puts one where a folder was a moment ago.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import sys
import time

_FOLDERS = ("home", "tmp", "work")
# More entries than this are no repository: the worker was started somewhere in the machine.
_MOST_LINKS = 500
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PATH_ONLY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Place:
    def __init__(self, path: str, links: list) -> None:
        self.path = path
        self._links = links

    def enter(self, chosen: dict) -> None:
        """In the child. `chosen`: variables that the author has set for all tasks, which stay as they are."""
        for name, folder in (("HOME", "home"), ("TMPDIR", "tmp")):
            if name not in chosen:
                os.environ[name] = os.path.join(self.path, folder)
        if "tempfile" in sys.modules:
            vars(sys.modules["tempfile"])["tempdir"] = None  # the DAG file may have asked while it was loaded
        os.chdir(os.path.join(self.path, "work"))

    def remove_if_untouched(self) -> bool:
        """False when there is more in it than we have made: that may take a while to remove."""
        try:
            work = os.path.join(self.path, "work")
            for name in self._links:
                os.unlink(os.path.join(work, name))
            for folder in _FOLDERS:
                os.rmdir(os.path.join(self.path, folder))
            os.rmdir(self.path)
        except OSError:
            return False
        return True


class OwnPlaces:
    def __init__(self, base: str) -> None:
        self._base = base
        self._made = 0
        self._of: dict[int, Place] = {}
        # Processes that remove the folders of an attempt.
        self.removers: set[int] = set()
        try:
            entries = sorted(os.listdir("."))
        except OSError:
            entries = []
        here = os.getcwd()
        self._links = [(name, os.path.join(here, name)) for name in entries] if len(entries) <= _MOST_LINKS else []
        os.makedirs(base, mode=0o700, exist_ok=True)

    def make(self) -> Place:
        self._made += 1
        path = os.path.join(self._base, str(self._made))
        os.mkdir(path, 0o700)
        for folder in _FOLDERS:
            os.mkdir(os.path.join(path, folder), 0o700)
        for name, target in self._links:
            os.symlink(target, os.path.join(path, "work", name))
        return Place(path, [name for name, _ in self._links])

    def give(self, pid: int, place: Place) -> None:
        self._of[pid] = place

    def remove_of(self, pid: int) -> None:
        """What a task has left may be much: then another process removes it, and nobody waits."""
        place = self._of.pop(pid, None)
        if place is None or place.remove_if_untouched():
            return
        try:
            remover = os.fork()
        except OSError:
            return  # removed with the server
        if remover == 0:
            try:
                signal.set_wakeup_fd(-1)
                os._exit(0 if _remove(place.path) else 1)
            finally:
                os._exit(1)
        self.removers.add(remover)

    def has_failed(self, pid: int, status: int) -> bool:
        """Of a process that has ended, whichever it was."""
        if pid not in self.removers:
            return False
        self.removers.discard(pid)
        return status != 0

    def remove(self) -> None:
        """All of them, at the end of the server."""
        with contextlib.suppress(OSError):
            remove_tree(self._base)


def _remove(path: str) -> bool:
    """Somebody who was told to end may still be writing for a moment."""
    for pause in (0.01, 0.05, 0.2, 1.0, None):
        try:
            remove_tree(path)
            return True
        except OSError:
            if pause is not None:
                time.sleep(pause)
    return False


def remove_tree(path: str) -> None:
    """Whatever modes its folders have, however deep they are: each is moved to the top, so that two are open at a time."""
    top = os.open(path, _DIRECTORY)
    try:
        os.fchmod(top, 0o700)
        while names := os.listdir(top):
            for name in names:
                if not _is_folder(name, top):
                    os.unlink(name, dir_fd=top)
                    continue
                _open_up(name, top)
                folder = os.open(name, _DIRECTORY, dir_fd=top)
                try:
                    for inner in os.listdir(folder):
                        if _is_folder(inner, folder):
                            _open_up(inner, folder)  # its `..` is going to change, which is a write
                            os.rename(inner, os.urandom(12).hex(), src_dir_fd=folder, dst_dir_fd=top)
                        else:
                            os.unlink(inner, dir_fd=folder)
                finally:
                    os.close(folder)
                os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    os.rmdir(path)


def _is_folder(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)


def _open_up(name: str, parent: int) -> None:
    """Ours to read and to write, without following a link that has taken its place."""
    fd = os.open(name, _PATH_ONLY, dir_fd=parent)
    try:
        os.chmod(f"/proc/self/fd/{fd}" if os.path.exists("/proc/self/fd") else fd, 0o700)
    finally:
        os.close(fd)
