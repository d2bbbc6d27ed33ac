"""`python passage.py`: lets the user tasks run as reach folders that root has closed, such as a workspace in /root.

Reads `{"gid", "folders", "ours"}` from its input and answers `{"opened", "closed"}`. A folder that the group may not enter gets
an access list entry for that group, and so does every folder on the way to it: to pass, and for the folder itself to be
listed as well. Nobody else gets anything, and nothing that is inside is changed: each file keeps its own permissions. The
interpreter that runs this is one that tasks will run, so its own folders are among them.

`ours` are folders with modules of our own. Their bytecode is written now, by root, for those who may not write there.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import struct
import sys

_ATTRIBUTE = "system.posix_acl_access"
_VERSION = 2
_USER_OBJ, _USER, _GROUP_OBJ, _GROUP, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_LIMITED_BY_MASK = (_USER, _GROUP_OBJ, _GROUP)
_NOBODY = 0xFFFFFFFF
# In no group but the one that is asked for, and the owner of nothing: files that are compiled run as such a user.
_STRANGER = 60_999
_PASS, _LIST = 1, 5


def open_folders(folders: list, gid: int) -> dict:
    opened: list = []
    closed: list = []
    for folder in folders:
        for step in _way_to(folder):
            needed = _LIST if step == os.path.realpath(folder) else _PASS
            if _may(step, needed, gid):
                continue
            try:
                _let(step, needed, gid)
                opened.append(step)
            except OSError as error:
                closed.append({"folder": folder, "at": step, "error": error.strerror})
                break
    return {"opened": opened, "closed": closed}


def _way_to(folder: str) -> list:
    """Every folder on the way, from the top, with those that links on the way lead through; the folder itself is the last."""
    way: list = []

    def walk(path: str) -> None:
        parts = os.path.abspath(path).strip("/").split("/")
        for count in range(len(parts)):
            place = "/" + "/".join(parts[: count + 1])
            if os.path.islink(place):
                walk(os.path.join(os.path.dirname(place), os.readlink(place)))
            real = os.path.realpath(place)
            if real not in way:
                way.append(real)

    walk(folder)
    return way


def _may(path: str, permission: int, gid: int) -> bool:
    """Asked of the kernel, by a process that is such a user."""
    pid = os.fork()
    if pid == 0:
        status = 2
        with contextlib.suppress(OSError):
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(_STRANGER, _STRANGER, _STRANGER)
            # By its own descriptor, as it were: whether the way there is open is asked for the folders before it.
            status = 0 if os.access(path, permission) else 1
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _let(path: str, permission: int, gid: int) -> None:
    entries = _read(path)
    mask = next((bits for tag, bits, _ in entries if tag == _MASK), 7)
    # What the mask has kept from others stays kept from them when it becomes wider.
    kept = [
        (tag, bits & mask if tag in _LIMITED_BY_MASK else bits, who)
        for tag, bits, who in entries
        if tag != _MASK and (tag, who) != (_GROUP, gid)
    ]
    before = next((bits & mask for tag, bits, who in entries if (tag, who) == (_GROUP, gid)), 0)
    kept.append((_GROUP, before | permission, gid))
    union = 0
    for tag, bits, _ in kept:
        union |= bits if tag in _LIMITED_BY_MASK else 0
    kept.append((_MASK, union, _NOBODY))
    kept.sort(key=lambda entry: (entry[0], entry[2]))
    packed = b"".join(struct.pack("<HHI", *entry) for entry in kept)
    os.setxattr(path, _ATTRIBUTE, struct.pack("<I", _VERSION) + packed)


def _read(path: str) -> list:
    try:
        data = os.getxattr(path, _ATTRIBUTE)
        return list(struct.iter_unpack("<HHI", data[4:]))
    except OSError as error:
        if error.errno != errno.ENODATA:
            raise
    mode = os.stat(path).st_mode
    return [
        (_USER_OBJ, mode >> 6 & 7, _NOBODY),
        (_GROUP_OBJ, mode >> 3 & 7, _NOBODY),
        (_OTHER, mode & 7, _NOBODY),
    ]


def _write_bytecode(folders: list) -> None:
    import compileall

    for folder in folders:
        with contextlib.suppress(OSError):
            compileall.compile_dir(folder, quiet=2)


def main() -> None:
    request = json.load(sys.stdin)
    own = [
        os.path.dirname(sys.executable),
        os.path.dirname(os.path.realpath(sys.executable)),
        sys.prefix,
        sys.base_prefix,
    ]
    answer = open_folders([*own, *request["folders"]], request["gid"])
    _write_bytecode(request["ours"])
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
