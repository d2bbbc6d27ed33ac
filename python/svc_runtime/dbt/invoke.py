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
from ..run import current as running
from .probe import common_arguments, without_tracker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

log = logging.getLogger("dbt")

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}
# Lines of dbt's that say how it was started and how it ended: the task says so itself.
_UNWANTED = frozenset(
    {"MainReportVersion", "MainReportArgs", "MainTrackingUserState", "CommandCompleted", "ResourceReport"}
)

# Made by the fork server before its first fork; the tasks it forks share what they parsed in it.
shared_folder: str | None = None


class Invocation:
    """One call of dbt for one task."""

    def __init__(self, *, project_dir: str, scratch: str, profile: dict, variables: dict, project_hash: str) -> None:
        self.scratch = scratch
        self.arguments = common_arguments(
            {
                "project_dir": project_dir,
                "scratch": scratch,
                "vars": variables,
                **{key: profile[key] for key in ("profiles_dir", "profile", "target")},
            }
        )
        self._manifest_key = _key(project_hash, profile["public"], variables)

    def parse(self) -> Any:
        """The manifest: kept, or made and kept."""
        manifest = self._kept()
        if manifest is not None:
            return manifest
        parsed = self.run(None, ["parse", "--no-write-json"], least=logging.WARNING)
        if not parsed.success:
            raise AirflowException(f"dbt cannot read the project: {reason_of(parsed)}")
        self._keep(parsed.result)
        return parsed.result

    def run(self, manifest: Any, command: list[str], *, least: int = logging.INFO) -> Any:
        without_tracker()
        from dbt.cli.main import dbtRunner

        # dbt leaves its event manager to the next invocation, with the listeners of the one before.
        return dbtRunner(manifest=manifest, callbacks=[_listener(least)]).invoke([*command, *self.arguments])

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


def _listener(least: int):
    """dbt's events as lines of the task's log."""
    least = logging.DEBUG if log.isEnabledFor(logging.DEBUG) else least

    def say(event: Any) -> None:
        info = event.info
        level = _LEVELS.get(info.level, logging.INFO)
        # Where the compiled text was: the folder is gone with the task, and the text is in its manifest.
        if level >= least and info.name not in _UNWANTED and info.msg.strip() and "compiled code at /" not in info.msg:
            log.log(level, "%s", info.msg.strip("\n"))

    return say


def reason_of(result: Any) -> str:
    return " ".join(str(result.exception or "dbt gave no reason").split())


def preload() -> None:
    """Before the first fork: what every task of the group would import, and a folder for what they parse."""
    global shared_folder
    import shutil

    if shared_folder is not None:
        return
    os.environ.setdefault("DBT_SEND_ANONYMOUS_USAGE_STATS", "false")
    without_tracker()
    with contextlib.suppress(ImportError):  # the task says what is missing
        import dbt.cli.main
        import dbt.task.build
        import dbt.task.freshness  # noqa: F401
    shared_folder = tempfile.mkdtemp(prefix="svc-dbt-")

    running.at_server_end.append(lambda: shutil.rmtree(shared_folder or "", ignore_errors=True))


_TINY = {"dbt_project.yml": "name: tiny\nversion: '1.0'\nprofile: tiny\n", "models/one.sql": "select 1 as one\n"}


def warm_up(adapter: str) -> None:
    """Reads a project of one model, before the first fork: dbt makes the schemas of its own files, the writers of its classes and
    the environment of its templates when it first needs them, which every task would do again (1 s of 2 of a small one)."""
    from dbt.adapters.factory import reset_adapters
    from dbt.cli.main import dbtRunner

    from .profiles import profiles_text, stand_in

    with tempfile.TemporaryDirectory(prefix="svc-dbt-") as folder:
        for name, text in {**_TINY, "profiles.yml": profiles_text("tiny", "default", stand_in(adapter))}.items():
            place = os.path.join(folder, name)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "w", encoding="utf-8") as file:
                file.write(text)
        before = os.getcwd()
        request = {
            "project_dir": folder,
            "scratch": folder,
            "profiles_dir": folder,
            "profile": "tiny",
            "target": "default",
        }
        # The static parser has threads of its own, and a process with threads cannot be forked.
        dbtRunner().invoke(["parse", "--no-write-json", "--no-static-parser", *common_arguments(request)])
        os.chdir(before)
        # The adapter knows the profile it was made with.
        reset_adapters()


def preload_adapter(name: str, *, warms_up: bool) -> None:
    import importlib

    with contextlib.suppress(Exception):  # the task says what is missing
        importlib.import_module(f"dbt.adapters.{name}")
        if warms_up:
            warm_up(name)
