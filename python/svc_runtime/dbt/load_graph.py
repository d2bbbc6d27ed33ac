"""The graph of a group: read by dbt while a file is compiled, taken from the version while its tasks run.

Reading costs seconds, so what was read is kept by the content it was read from: the compile server hands every file what was kept
for it before, and keeps what the file has found (`kept` below).
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile

from ..exceptions import RecordingError
from ..record import current as recording
from ..record import templating
from ..run import current as running
from .graph import FORMAT, Graph
from .project import ProjectPlace, project_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PREFIX = "dbt-graph/"


class Wanted:
    """What a graph depends on beside the project's files."""

    def __init__(
        self,
        *,
        adapter: str | None,
        profile_args: dict,
        target: str | None,
        vars: dict,
        env: dict,
        select: list,
        exclude: list,
        selector: str | None,
    ) -> None:
        self.parts: dict[str, Any] = {
            "adapter": adapter,
            "profile_args": profile_args,
            "target": target,
            "vars": vars,
            "env": env,
            "select": select,
            "exclude": exclude,
            "selector": selector,
        }


def is_running() -> bool:
    """In the process that runs tasks of a version: dbt is not asked again."""
    return running.parsing_context.dag_id is not None


def graph_of(name: str, place: ProjectPlace, wanted: Wanted, *, python: str | None, manifest: str | None) -> Graph:
    """`name` is the group's in its DAG."""
    key = f"{PREFIX}{name}.json"
    if is_running():
        text = templating.version_files.get(key)
        if text is None:
            raise RecordingError(
                f"this version of the DAG has no graph for the dbt group '{name}'",
                "Register the DAG again: the group has another name now",
            )
        return Graph.from_text(text)
    if key in recording.version_files:
        raise RecordingError(f"two dbt groups are named '{name}'", "Give each its own group_id")
    text = json.dumps(
        _from_manifest(manifest, place, wanted) if manifest else _read(place, wanted, python), sort_keys=True
    )
    recording.version_files[key] = text
    return Graph.from_text(text)


def _read(place: ProjectPlace, wanted: Wanted, python: str | None) -> dict:
    found = project_hash(place.path)
    interpreter = python or _interpreter()
    stamp = [FORMAT, found, wanted.parts, interpreter, _changed(interpreter)]
    key = hashlib.sha256(json.dumps(stamp, sort_keys=True, default=str).encode()).hexdigest()
    known = recording.kept.get(key)
    graph = known if known is not None else _ask(place, wanted, interpreter, found)
    recording.used[key] = graph
    return graph


def _changed(interpreter: str) -> float:
    """Of the packages beside it: another version of dbt may see another graph."""
    folder = os.path.join(os.path.dirname(os.path.dirname(interpreter)), "lib")
    try:
        return max(
            os.stat(os.path.join(folder, name, "site-packages")).st_mtime
            for name in os.listdir(folder)
            if name.startswith("python")
        )
    except (OSError, ValueError):
        return 0.0


def _interpreter() -> str:
    """Where dbt is: the environment that compiles the file, else that of the `dbt` on the PATH."""
    if importlib.util.find_spec("dbt") is not None and importlib.util.find_spec("dbt.cli") is not None:
        return sys.executable
    program = shutil.which("dbt")
    beside = os.path.join(os.path.dirname(os.path.realpath(program)), "python") if program else ""
    if beside and os.access(beside, os.X_OK):
        return beside
    raise RecordingError("dbt is not installed where DAG files are compiled", INSTALL)


INSTALL = (
    "Add dbt-core and the adapter, such as `dbt-core<1.11` and dbt-postgres, to dependencies in svc.yaml or to requirements.txt; "
    "or give the Python of an environment that has them: dbt_group(python=…)"
)


def _ask(place: ProjectPlace, wanted: Wanted, interpreter: str, found: str) -> dict:
    with tempfile.TemporaryDirectory(prefix="svc-dbt-") as scratch:
        request, answer = os.path.join(scratch, "request.json"), os.path.join(scratch, "answer.json")
        with open(request, "w", encoding="utf-8") as file:
            json.dump({"project_dir": place.path, "scratch": scratch, "hash": found, **wanted.parts}, file)
        own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        env = {**os.environ, "PYTHONPATH": own, "HOME": scratch, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
        env.update({name: str(value) for name, value in wanted.parts["env"].items()})
        command = [interpreter, "-m", "svc_runtime.dbt.probe", request, answer]
        if recording.ask_for_time is not None:
            recording.ask_for_time()
        ended = subprocess.run(
            command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, preexec_fn=_take_time
        )
        if not os.path.exists(answer):
            last = (ended.stderr.strip() or ended.stdout.strip()).splitlines()[-1:] or [f"exit code {ended.returncode}"]
            raise RecordingError(f"dbt could not be asked for the graph of {place.relative}: {last[0]}", INSTALL)
        with open(answer, encoding="utf-8") as file:
            said = json.load(file)
    if said["ok"]:
        return said["graph"]
    if said.get("missing"):
        raise RecordingError(f"dbt is not installed in {interpreter}: {said['message']}", INSTALL)
    raise RecordingError(
        f"dbt cannot read the project {place.relative}: {said['message']}", "Try `dbt parse` in its folder"
    )


def _take_time() -> None:
    """As much processor time as the compile server lets anything have: the file itself is held to less."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))


def _from_manifest(manifest: str, place: ProjectPlace, wanted: Wanted) -> dict:
    """An artifact that somebody made before: as it is, for projects that are parsed elsewhere."""
    from .graph import compact

    given = [name for name in ("select", "exclude", "selector") if wanted.parts[name]]
    if given:
        raise RecordingError(
            f"a dbt group with manifest= cannot have {', '.join(given)}: only dbt can select",
            "Leave out manifest, and dbt is asked",
        )
    path = manifest if os.path.isabs(manifest) else os.path.join(place.path, manifest)
    try:
        with open(path, encoding="utf-8") as file:
            text = json.load(file)
        nodes = [*text["nodes"], *text.get("unit_tests", {})]
        return compact(text, selected=nodes, project_hash=project_hash(place.path))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordingError(
            f"{manifest} is no manifest of dbt: {type(error).__name__}: {error}",
            "Make it with `dbt parse`, or leave out manifest",
        ) from None
