"""`dbt_group`: a dbt project as a group of tasks."""

from __future__ import annotations

import os

from ..bundle_path import project_root
from ..exceptions import RecordingError
from ..record import current as recording
from ..record.group import TaskGroup
from ..run import current as running
from . import invoke
from .assets import asset_of
from .graph import Graph
from .load_graph import Wanted, graph_of, is_running
from .operator import DbtOperator
from .plan import Part, plan
from .project import ProjectPlace, caller_folder, find_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def dbt_group(
    group_id: str = "dbt",
    project_dir: Any = ".",
    *,
    granularity: str = "node",
    select: Any = None,
    exclude: Any = None,
    selector: str | None = None,
    conn_id: str | None = None,
    adapter: str | None = None,
    profile_args: dict | None = None,
    profiles_yml: Any = None,
    profile: str | None = None,
    env: dict | None = None,
    target: str | None = None,
    tests: str = "after_each",
    source_freshness: bool = False,
    vars: dict | None = None,
    full_refresh: bool | str = False,
    retry: str = "failed",
    artifacts: str | None = None,
    manifest: str | None = None,
    python: str | None = None,
    dbt_args: list | None = None,
    outlets: bool = True,
    operator_args: dict | None = None,
    **group_args: Any,
) -> TaskGroup:
    """Tasks for the models, seeds, snapshots and tests of a dbt project, in the order dbt's own graph gives.

    The graph is read by dbt while the file is compiled, and kept with the version. `conn_id` names the connection that tasks make
    their profile of; without one the project's own profiles.yml is used. docs/dbt.md says what each argument does.
    """
    dag = group_args.get("dag") or recording.current_dag()
    if dag is None:
        raise RecordingError(
            "dbt_group() stands outside of a DAG", "Call it inside `with DAG(...):` or a function with @dag"
        )
    if retry not in ("failed", "all"):
        raise RecordingError(f"retry is {retry!r}", "Write 'failed' (what failed and was skipped) or 'all'")
    place = find_project(project_dir, caller_folder())
    wanted = Wanted(
        adapter=adapter,
        profile_args={name: value for name, value in (profile_args or {}).items() if _is_plain(value)},
        target=target,
        vars=_plain_vars(vars),
        env=_plain_vars(env),
        select=_words(select, "select"),
        exclude=_words(exclude, "exclude"),
        selector=selector,
    )
    group = TaskGroup(group_id, project_dir=_inside(place), **group_args)
    graph = graph_of(f"{dag.dag_id}/{group.group_id}", place, wanted, python=python, manifest=manifest)
    parts = plan(graph, granularity=granularity, tests=tests, source_freshness=source_freshness)
    arguments = {
        "project_dir": place.relative,
        "conn_id": conn_id,
        "profile_args": profile_args,
        "profiles_yml": _beside(profiles_yml),
        "profile": profile,
        "env": env,
        "target": target,
        "vars": vars,
        "full_refresh": full_refresh,
        "retry": retry,
        "artifacts": artifacts,
        "dbt_args": dbt_args,
        **(operator_args or {}),
    }
    _make_tasks(group, graph, parts, arguments, with_outlets=outlets)
    if is_running():
        invoke.preload()
        invoke.preload_adapter(graph.adapter, warms_up=running.parsing_context.is_shared)
    return group


def _make_tasks(group: TaskGroup, graph: Graph, parts: list[Part], arguments: dict, *, with_outlets: bool) -> None:
    tasks: dict[str, DbtOperator] = {}
    inner: dict[str, TaskGroup] = {}
    for part in parts:
        holder = group
        if part.group is not None:
            if part.group not in inner:
                inner[part.group] = TaskGroup(part.group, parent_group=group, dag=group.dag)
            holder = inner[part.group]
        own = [asset_of(node) for node in part.nodes if node.is_built] if with_outlets else []
        task = DbtOperator(
            task_id=part.name,
            task_group=holder,
            dag=group.dag,
            command=part.command,
            select=[node.selector for node in part.nodes],
            **{**arguments, "outlets": [*own, *(arguments.get("outlets") or [])]},
        )
        task.__dict__["svc_graph"] = graph
        task.__dict__["svc_node_ids"] = [node.id for node in part.nodes]
        tasks[part.key] = task
        for name in sorted(part.upstream):
            task.set_upstream(tasks[name])


def _inside(place: ProjectPlace) -> str | None:
    """An image carries projects inside the folder of the DAG. One elsewhere has to be there already, and that is said."""
    if place.relative != place.path:
        return place.relative
    recording.warn(
        f"the dbt project {place.path} is outside the folder of the DAG: an image of the DAG does not carry it, and tasks look for it at that path"
    )
    return None


def _beside(profiles_yml: Any) -> str | None:
    """Relative to the folder of the DAGs, so that it is found wherever the version runs."""
    if profiles_yml is None:
        return None
    folder = caller_folder()
    path = os.path.normpath(os.path.join(folder, os.fspath(profiles_yml)))
    if os.path.basename(path) != "profiles.yml" or not os.path.isfile(path):
        raise RecordingError(
            f"profiles_yml is {profiles_yml}: there is no such profiles.yml",
            "Give the path of the file, relative to the DAG file",
        )
    return os.path.relpath(path, project_root(folder))


def _words(value: Any, name: str) -> list[str]:
    """As on dbt's command line: words between spaces are a union."""
    if value is None:
        return []
    items = value.split() if isinstance(value, str) else list(value)
    for item in items:
        if not isinstance(item, str) or not item.strip() or item.startswith("-"):
            raise RecordingError(
                f"{name} has {item!r}, which is no selection of dbt's", "Write names, tags and paths as after --select"
            )
    return items


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool)) and "{{" not in str(value)


def _plain_vars(values: dict | None) -> dict:
    """A template has its value only when the task runs; the graph is made without it."""
    return {name: value for name, value in (values or {}).items() if not (isinstance(value, str) and "{{" in value)}
