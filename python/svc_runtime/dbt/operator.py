"""The task that runs dbt for some nodes of a project."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
import time
from urllib.parse import quote

from ..bundle_path import project_root
from ..exceptions import AirflowException
from ..record.operator import BaseOperator
from . import results as outcome_of
from .profiles import profile_output, profiles_text
from .project import project_hash
from .results import MANIFEST_KEY, RESULTS_KEY, DbtFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .graph import Graph

_ARTIFACTS = ("run_results.json", "manifest.json")


class DbtOperator(BaseOperator):
    """`select` are dbt selectors of exactly the nodes of this task. The graph stays with the group: it is not an argument."""

    template_fields = ("select", "vars", "env", "target", "artifacts", "full_refresh")
    ui_color = "#ff694a"
    ui_fgcolor = "#fff"

    def __init__(
        self,
        *,
        project_dir: str,
        command: str,
        select: list,
        conn_id: str | None = None,
        profile_args: dict | None = None,
        profiles_yml: str | None = None,
        profile: str | None = None,
        env: dict | None = None,
        target: str | None = None,
        vars: dict | None = None,
        full_refresh: bool | str = False,
        retry: str = "failed",
        artifacts: str | None = None,
        dbt_args: list | None = None,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.project_dir = project_dir
        self.command = command
        self.select = select
        self.conn_id = conn_id
        self.profile_args = profile_args or {}
        self.profiles_yml = profiles_yml
        self.profile = profile
        self.env = env or {}
        self.target = target
        self.vars = vars or {}
        self.full_refresh = full_refresh
        self.retry = retry
        self.artifacts = artifacts
        self.dbt_args = dbt_args or []
        # Set by the group, in the process that compiles and in the one that runs.
        self.__dict__["svc_graph"] = None
        self.__dict__["svc_node_ids"] = []

    def execute(self, context) -> dict:
        from .invoke import Invocation

        _check_installed()
        graph: Graph = self.__dict__["svc_graph"]
        path = os.path.join(project_root(os.getcwd()), self.project_dir)
        if not os.path.isfile(os.path.join(path, "dbt_project.yml")):
            raise AirflowException(
                f"the dbt project {self.project_dir} is not where the task runs: it was not found at {path}"
            )
        now = project_hash(path)
        if now != graph.project_hash:
            self.log.warning(
                "The dbt project %s was changed after this version was made: the files of now are used",
                self.project_dir,
            )
        wanted = self._wanted(context)
        os.environ.update({name: str(value) for name, value in self.env.items()})
        with tempfile.TemporaryDirectory(prefix="svc-dbt-") as scratch:
            profile = self._profile(path, scratch)
            with _alone_with(profile["public"], self.log):
                invocation = Invocation(
                    project_dir=path, scratch=scratch, profile=profile, variables=self.vars, project_hash=now
                )
                return self._run(context, invocation, wanted, scratch)

    def _wanted(self, context) -> list[str]:
        """All nodes of the task, or those an earlier try has left."""
        ids: list[str] = self.__dict__["svc_node_ids"]
        ti = context["ti"]
        if self.retry != "failed" or ti.try_number < 2:
            return ids
        kept = ti.xcom_pull(task_ids=self.task_id, key=RESULTS_KEY, map_indexes=ti.map_index)
        previous = (kept or {}).get("results")
        left = outcome_of.unfinished(previous, ids)
        if left is None:
            return ids
        self.__dict__["svc_previous"] = previous
        self.log.info("%d of %d nodes are left from the earlier try: only those are run", len(left), len(ids))
        return left

    def _profile(self, path: str, scratch: str) -> dict:
        """A private profiles.yml of the connection, or the project's own. `public` is what parsing may depend on."""
        if self.conn_id is None:
            file = os.path.join(project_root(""), self.profiles_yml) if self.profiles_yml else ""
            file = file or os.path.join(path, "profiles.yml")
            text = _read(file)
            if text is None and self.profiles_yml:
                raise AirflowException(f"there is no {self.profiles_yml} where the task runs")
            # Without one dbt looks where it always does, as on the command line.
            folder = os.path.dirname(file) if text is not None else None
            public = {"file": text, "env": self.env, **_duckdb_of(text, self.target, path)}
            return {"profiles_dir": folder, "profile": self.profile, "target": self.target, "public": public}
        from ..run.hooks import BaseHook

        output = profile_output(BaseHook.get_connection(self.conn_id), profile_args=self.profile_args, project_dir=path)
        target = self.target or "default"
        name = "svc"
        _put_secret(os.path.join(scratch, "profiles.yml"), profiles_text(name, target, output))
        from ..run.masks import is_sensitive_name

        public = {key: value for key, value in output.items() if not is_sensitive_name(key)}
        return {"profiles_dir": scratch, "profile": name, "target": target, "public": {**public, "target": target}}

    def _run(self, context, invocation, wanted: list[str], scratch: str) -> dict:
        graph: Graph = self.__dict__["svc_graph"]
        started = time.monotonic()
        manifest = invocation.parse()
        parsed = time.monotonic()
        command = ["source", "freshness"] if self.command == "freshness" else [self.command]
        command += ["--select", *(graph.nodes[name].selector for name in wanted)]
        if self.command in ("build", "test"):
            # Tests are named one by one: none comes along because a model of it was named.
            command += ["--indirect-selection", "empty"]
        if self.command in ("build", "run", "seed") and _is_true(self.full_refresh):
            command.append("--full-refresh")
        if self.command == "freshness":
            command += ["--output", os.path.join(scratch, "sources.json")]
        if not self.artifacts:
            # Of the whole manifest nothing but the nodes of this task is kept: writing it takes as long as a small model.
            command.append("--no-write-json")
        result = invocation.run(manifest, [*command, *self.dbt_args])
        ended = time.monotonic()
        found = _results(result, os.path.join(scratch, "run_results.json"))
        everything = outcome_of.merged(self.__dict__.get("svc_previous") or [], found)
        self._leave(context, everything, scratch, manifest)
        self.log.info(
            "dbt %s: %d nodes, read in %.2f s, run in %.2f s",
            self.command,
            len(found),
            parsed - started,
            ended - parsed,
        )
        if not result.success:
            if outcome_of.failures(found):
                paths = {name: graph.nodes[name].path for name in graph.nodes}
                raise DbtFailed(outcome_of.failure_message(everything, paths))
            from .invoke import reason_of

            raise AirflowException(f"dbt {self.command} failed: {reason_of(result)}")
        self._tell_assets(context, found, graph)
        return outcome_of.summary(self.command, everything)

    def _leave(self, context, everything: list[dict], scratch: str, manifest: Any) -> None:
        """Artifacts: as values of the task, within what a value may have, and as files where the author wants them."""
        ti = context["ti"]
        whole = _json(os.path.join(scratch, "run_results.json"))
        whole["results"] = everything
        _push_within(ti, RESULTS_KEY, [whole, {"results": outcome_of.compact_results(everything)}])
        ids = {result["unique_id"] for result in everything}
        _push_within(ti, MANIFEST_KEY, [_manifest_of(manifest, ids)])
        if self.artifacts:
            self._write_artifacts(context, scratch)

    def _write_artifacts(self, context, scratch: str) -> None:
        ti = context["ti"]
        parts = (
            ti.dag_id,
            ti.run_id,
            ti.task_id,
            *([str(ti.map_index)] if ti.map_index >= 0 else []),
            str(ti.try_number),
        )
        folder = "/".join([str(self.artifacts).rstrip("/"), *(quote(part, safe="+:@~") for part in parts)])
        for name in (*_ARTIFACTS, "sources.json"):
            text = _read(os.path.join(scratch, name))
            if text is not None:
                _write(f"{folder}/{name}", text)
        self.log.info("Artifacts of dbt are in %s", folder)

    def _tell_assets(self, context, found: list[dict], graph: Graph) -> None:
        from .assets import asset_of

        for result in found:
            node = graph.nodes.get(result["unique_id"])
            if node is None or not node.is_built:
                continue
            context["outlet_events"][asset_of(node)].extra = {
                "unique_id": node.id,
                "status": result["status"],
                "execution_time": result.get("execution_time"),
                "relation": result.get("relation_name"),
                **{
                    name: value
                    for name, value in (result.get("adapter_response") or {}).items()
                    if name == "rows_affected"
                },
            }

    def on_kill(self) -> None:
        """Asks the database to stop what it is doing for us; the process ends in any case."""
        from dbt.adapters.factory import FACTORY

        for adapter in list(FACTORY.adapters.values()):
            with contextlib.suppress(Exception):
                if adapter.is_cancelable():
                    for name in adapter.cancel_open_connections():
                        self.log.info("Cancelled %s", name)


def _check_installed() -> None:
    import importlib.util

    if importlib.util.find_spec("dbt") is None or importlib.util.find_spec("dbt.cli") is None:
        raise AirflowException(
            "dbt is not installed where the task runs: add dbt-core and its adapter, such as dbt-postgres, to the project's dependencies"
        )


def _put_secret(path: str, text: str) -> None:
    """In memory, under the name of a file: of a task that is killed nothing is left on the disk. Elsewhere than on Linux a file."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("profiles.yml", os.MFD_CLOEXEC)
        os.symlink(f"/proc/{os.getpid()}/fd/{descriptor}", path)
    else:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, text.encode())


def _is_true(value) -> bool:
    return value is True or str(value).strip().lower() in ("true", "1", "yes")


def _results(result: Any, path: str) -> list[dict]:
    """From the artifact: the same words on every version of dbt. Empty when dbt did not get that far."""
    if hasattr(result.result, "write"):
        result.result.write(path)
    return [entry for entry in _json(path).get("results") or [] if isinstance(entry, dict)]


def _json(path: str) -> dict:
    text = _read(path)
    return json.loads(text) if text else {}


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _duckdb_of(text: str | None, target: str | None, path: str) -> dict:
    """The file that a profiles.yml of the project names, when it is one of DuckDB's."""
    import yaml

    for profile in (yaml.safe_load(text) or {}).values() if text else ():
        outputs = profile.get("outputs") if isinstance(profile, dict) else None
        output = (outputs or {}).get(target or profile.get("target") or "default") or {}
        if output.get("type") == "duckdb":
            return {"type": "duckdb", "path": os.path.join(path, str(output.get("path") or ":memory:"))}
    return {}


def _write(place: str, text: str) -> None:
    if "://" not in place:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)
        return
    try:
        import fsspec
    except ImportError:
        raise AirflowException(
            f"artifacts is {place}: add fsspec and its package for that store, such as s3fs, to the project's dependencies"
        ) from None
    with fsspec.open(place, "w") as store:
        store.write(text)


def _manifest_of(manifest: Any, ids: set[str]) -> dict:
    """Of the nodes this task ran: the whole manifest has every macro of dbt's, and is some 500 kB for an empty project."""
    written = {}
    for section in (manifest.nodes, manifest.sources, manifest.unit_tests):
        for name, node in section.items():
            if name in ids:
                written[name] = node.to_dict(omit_none=True)
    return {"nodes": written}


def _push_within(ti, key: str, candidates: list) -> None:
    """The first of them that is no larger than a value may be; without one, none."""
    from ..run.masks import masks
    from ..run.xcom_values import XComTooLarge

    for value in candidates:
        try:
            ti.xcom_push(key=key, value=json.loads(json.dumps(masks.apply_deep(value), default=str)))
            return
        except XComTooLarge:
            continue
    ti.log.warning("%s is larger than a value may be, and is not kept: use artifacts=… for files", key)


@contextlib.contextmanager
def _alone_with(public: dict, log):
    """A DuckDB file has one process that writes: others of this machine wait here, instead of failing at its lock.

    The lock is a file next to the database, because isolated tasks share no temporary folder. Where none can be made, DuckDB
    itself refuses the second writer.
    """
    path = public.get("path") if public.get("type") == "duckdb" else None
    if not path or str(path).endswith(":memory:") or not str(path).startswith("/"):
        yield
        return
    folder, name = os.path.split(os.path.realpath(path))
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError):
            lock = held.enter_context(open(os.path.join(folder, f".{name}.svc-lock"), "w"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                log.info("Waiting for the DuckDB file %s, which another task writes", path)
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield
