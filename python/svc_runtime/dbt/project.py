"""A dbt project on the disk: where it is, and a hash of what dbt reads of it."""

from __future__ import annotations

import hashlib
import os
import sys

from ..bundle_path import project_root
from ..exceptions import RecordingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

_READ = (".sql", ".yml", ".yaml", ".csv", ".py", ".md", ".json", ".jinja", ".txt")
# What dbt or others write there, and what is no part of it.
_SKIPPED = {"target", "logs", "__pycache__", "node_modules", "venv", "env"}
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class ProjectPlace:
    """`path` is where it is on this machine, `relative` how the version names it: from the folder of the DAGs."""

    def __init__(self, path: str, relative: str) -> None:
        self.path = path
        self.relative = relative


def caller_folder() -> str:
    """Of the DAG file: the first file up the stack that is not ours."""
    frame: FrameType | None = sys._getframe(1)
    roots = (_OWN, os.path.join(os.path.dirname(_OWN), "svc"), os.path.join(os.path.dirname(_OWN), "cosmos"))
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((*(root + os.sep for root in roots), "<")):
            return os.path.dirname(os.path.abspath(name))
        frame = frame.f_back
    return os.getcwd()


def find_project(given: object, folder: str) -> ProjectPlace:
    """`folder` is that of the DAG file; a relative path is looked for there, then in the folder of the DAGs."""
    text = os.fspath(given) if isinstance(given, os.PathLike) else str(given)
    root = project_root(folder)
    candidates = [text] if os.path.isabs(text) else [os.path.join(base, text) for base in dict.fromkeys((folder, root))]
    for candidate in candidates:
        path = os.path.normpath(candidate)
        if not os.path.isfile(os.path.join(path, "dbt_project.yml")):
            continue
        relative = os.path.relpath(path, root)
        if relative.startswith(".."):
            return ProjectPlace(path, path)
        return ProjectPlace(path, relative.replace(os.sep, "/"))
    shown = " or ".join(os.path.relpath(path, root) if not os.path.isabs(text) else path for path in candidates)
    raise RecordingError(
        f"there is no dbt project in {shown}: dbt_project.yml is not there",
        "Give the folder of the project as project_dir, relative to the DAG file",
    )


def project_hash(path: str) -> str:
    """Of everything dbt may read, by name and content."""
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
        for name in sorted(files):
            if name.startswith(".") or not name.endswith(_READ):
                continue
            place = os.path.join(folder, name)
            digest.update(os.path.relpath(place, path).encode() + b"\0")
            try:
                with open(place, "rb") as file:
                    while chunk := file.read(1 << 20):
                        digest.update(chunk)
            except OSError:
                digest.update(b"?")
            digest.update(b"\0")
    return digest.hexdigest()
