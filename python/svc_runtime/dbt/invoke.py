"""dbt in the task's own process, through its programmatic interface: no second interpreter, no second import.

The fork server has dbt imported (see group.py), and what the first task of a version parsed is kept in a folder of that server, by
the hash of the project and of whatever parsing depends on: the tasks after it read it instead of parsing again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import tempfile

from ..exceptions import AirflowException
from .probe import common_arguments, without_tracker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

log = logging.getLogger("dbt")

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}
# Lines of dbt's that say how it was started and how it ended: the task says so itself.
_UNWANTED = frozenset({"MainReportVersion", "MainReportArgs", "MainTrackingUserState", "CommandCompleted", "ResourceReport"})

# Made by the fork server before its first fork; the tasks it forks share what they parsed in it.
shared_folder: str | None = None


class Invocation:
    """One call of dbt for one task."""

    def __init__(self, *, project_dir: str, scratch: str, profile: dict, variables: dict, project_hash: str) -> None:
        self.scratch = scratch
        self.arguments = common_arguments(
            {"project_dir": project_dir, "scratch": scratch, "vars": variables, **{key: profile[key] for key in ("profiles_dir", "profile", "target")}}
        )
        self._manifest_key = _key(project_hash, profile["public"], variables)

    def parse(self) -> Any:
        """The manifest: kept, or made and kept."""
        manifest = self._kept()
        if manifest is not None:
            return manifest
        parsed = self.run(None, ["parse", "--no-write-json"])
        if not parsed.success:
            raise AirflowException(f"dbt cannot read the project: {reason_of(parsed)}")
        self._keep(parsed.result)
        return parsed.result

    def run(self, manifest: Any, command: list[str]) -> Any:
        without_tracker()
        from dbt.cli.main import dbtRunner

        # dbt leaves its event manager to the next invocation, with the listeners of the one before.
        return dbtRunner(manifest=manifest, callbacks=[_say]).invoke([*command, *self.arguments])

    def _path(self) -> str | None:
        return os.path.join(shared_folder, f"{self._manifest_key}.msgpack") if shared_folder else None

    def _kept(self) -> Any:
        path = self._path()
        if path is None or not os.path.exists(path):
            return None
        from dbt.contracts.graph.manifest import Manifest

        try:
            with open(path, "rb") as file:
                manifest = Manifest.from_msgpack(file.read())
            manifest.build_parent_and_child_maps()
            return manifest
        except Exception as error:  # what cannot be read is made again
            log.debug("the kept manifest cannot be read: %s", error)
            return None

    def _keep(self, manifest: Any) -> None:
        path = self._path()
        if path is None:
            return
        with contextlib.suppress(Exception):  # only the next task's time is at stake
            descriptor, unfinished = tempfile.mkstemp(dir=shared_folder)
            with open(descriptor, "wb") as file:
                file.write(manifest.to_msgpack())
            os.replace(unfinished, path)


def _key(project_hash: str, public: dict, variables: dict) -> str:
    seen = {name: value for name, value in os.environ.items() if name.startswith("DBT_")}
    text = json.dumps([project_hash, public, variables, seen], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _say(event: Any) -> None:
    """One of dbt's events as a line of the task's log."""
    info = event.info
    if info.name in _UNWANTED or not info.msg:
        return
    level = _LEVELS.get(info.level, logging.INFO)
    if level < logging.INFO and not log.isEnabledFor(logging.DEBUG):
        return
    text = info.msg.strip("\n")
    if text.strip():
        log.log(level, "%s", text)


def reason_of(result: Any) -> str:
    return " ".join(str(result.exception or "dbt gave no reason").split())


def preload() -> None:
    """Before the first fork: what every task of the group would import, and a folder for what they parse."""
    global shared_folder
    import atexit
    import shutil

    if shared_folder is not None:
        return
    owner = os.getpid()
    os.environ.setdefault("DBT_SEND_ANONYMOUS_USAGE_STATS", "false")
    with contextlib.suppress(ImportError):  # the task says what is missing
        import dbt.cli.main
        import dbt.task.build
        import dbt.task.freshness  # noqa: F401
    shared_folder = tempfile.mkdtemp(prefix="svc-dbt-")

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(shared_folder or "", ignore_errors=True)

    atexit.register(remove)


def preload_adapter(name: str) -> None:
    import importlib

    with contextlib.suppress(ImportError):
        importlib.import_module(f"dbt.adapters.{name}")
