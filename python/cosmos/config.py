"""The arguments of astronomer-cosmos: what a dbt group can do is taken, the rest is refused where it is written."""

from __future__ import annotations

import os

from svc_runtime.exceptions import RecordingError

from .constants import ExecutionMode, LoadMode, SourceRenderingBehavior, TestBehavior

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_GUIDE = "Leave it out, or write the group with svc's own dbt_group (docs/dbt.md)"


class _Config:
    """Arguments by name, as attributes of any type. `takes`: what has a meaning here; `passes`: what has none, and harms nobody."""

    takes: dict[str, Any] = {}
    passes: frozenset[str] = frozenset()
    first: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = {**dict(zip(self.first, args, strict=False)), **kwargs}
        for name, value in self.takes.items():
            self.__dict__[name] = given.pop(name, value)
        for name, value in given.items():
            if name not in self.passes and value not in (None, False, (), [], {}):
                raise RecordingError(
                    f"{type(self).__name__}({name}=…) of astronomer-cosmos is not supported here", _GUIDE
                )

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


class ProjectConfig(_Config):
    first = ("dbt_project_path",)
    takes = {"dbt_project_path": None, "manifest_path": None, "dbt_vars": None, "env_vars": None}
    # Where models lie is in dbt_project.yml, which dbt reads itself; what was parsed is kept anyway.
    passes = frozenset(
        {
            "models_relative_path",
            "seeds_relative_path",
            "snapshots_relative_path",
            "project_name",
            "partial_parse",
            "install_dbt_deps",
        }
    )


class ProfileConfig(_Config):
    first = ("profile_name", "target_name", "profiles_yml_filepath", "profile_mapping")
    takes = {"profile_name": None, "target_name": None, "profiles_yml_filepath": None, "profile_mapping": None}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if (self.profiles_yml_filepath is None) == (self.profile_mapping is None):
            raise RecordingError(
                "ProfileConfig needs either profiles_yml_filepath or profile_mapping", "Give it one of the two"
            )


class RenderConfig(_Config):
    takes = {
        "emit_datasets": True,
        "test_behavior": TestBehavior.AFTER_EACH,
        "load_method": LoadMode.AUTOMATIC,
        "select": None,
        "exclude": None,
        "selector": None,
        "dbt_project_path": None,
        "env_vars": None,
        "source_rendering_behavior": SourceRenderingBehavior.NONE,
    }
    passes = frozenset(
        {
            "dbt_deps",
            "dbt_executable_path",
            "dbt_ls_path",
            "project_path",
            "enable_mock_profile",
            "airflow_vars_to_purge_dbt_ls_cache",
        }
    )


class ExecutionConfig(_Config):
    takes = {"execution_mode": ExecutionMode.LOCAL, "dbt_project_path": None, "dbt_executable_path": None}
    passes = frozenset({"invocation_mode", "test_indirect_selection", "virtualenv_dir"})

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        mode = getattr(self.execution_mode, "value", self.execution_mode)
        if mode not in ("local", "virtualenv"):
            raise RecordingError(
                f"ExecutionConfig(execution_mode={mode!r}) is not supported: tasks run dbt in their own process",
                "Leave it out: on Kubernetes every task has a pod of its own anyway",
            )


def group_arguments(
    project_config: ProjectConfig,
    profile_config: ProfileConfig | None,
    execution_config: ExecutionConfig | None,
    render_config: RenderConfig | None,
    operator_args: dict | None,
) -> dict:
    """As dbt_group takes them."""
    execution = execution_config or ExecutionConfig()
    render = render_config or RenderConfig()
    project_dir = project_config.dbt_project_path or execution.dbt_project_path or render.dbt_project_path
    if project_dir is None:
        raise RecordingError("no dbt project is named", "Write ProjectConfig(dbt_project_path=…)")
    _check_packages(os.fspath(project_dir))
    more = dict(operator_args or {})
    more.pop("install_deps", None)
    selection = {"select": render.select, "exclude": render.exclude, "selector": render.selector}
    wants_manifest = render.load_method in (LoadMode.DBT_MANIFEST, LoadMode.AUTOMATIC) and not any(selection.values())
    behavior = render.source_rendering_behavior
    return {
        "project_dir": project_dir,
        **_profile(profile_config),
        **selection,
        "tests": getattr(render.test_behavior, "value", render.test_behavior),
        "source_freshness": getattr(behavior, "value", behavior) != "none",
        "manifest": os.fspath(project_config.manifest_path)
        if wants_manifest and project_config.manifest_path
        else None,
        "vars": {**(project_config.dbt_vars or {}), **(more.pop("vars", None) or {})},
        "env": {**(project_config.env_vars or {}), **(render.env_vars or {}), **(more.pop("env", None) or {})},
        "full_refresh": more.pop("full_refresh", False),
        "outlets": bool(render.emit_datasets),
        "operator_args": more,
    }


def _profile(config: ProfileConfig | None) -> dict:
    if config is None:
        return {}
    if config.profile_mapping is not None:
        mapping = config.profile_mapping
        return {
            "conn_id": mapping.conn_id,
            "adapter": mapping.adapter,
            "profile_args": mapping.profile_args,
            "target": config.target_name,
        }
    return {"profiles_yml": config.profiles_yml_filepath, "profile": config.profile_name, "target": config.target_name}


def _check_packages(path: str) -> None:
    """Cosmos runs `dbt deps` in every task; here the packages are part of the project."""
    wants = any(os.path.isfile(os.path.join(path, name)) for name in ("packages.yml", "dependencies.yml"))
    if wants and not os.path.isdir(os.path.join(path, "dbt_packages")):
        raise RecordingError(
            f"the dbt project {path} names packages that are not installed",
            "Run `dbt deps` in it before it is deployed",
        )
