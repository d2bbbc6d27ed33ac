"""DAG files written for astronomer-cosmos: its names, on the road of dbt_group."""

from __future__ import annotations

from svc_runtime.dbt.group import dbt_group
from svc_runtime.exceptions import RecordingError
from svc_runtime.record.dag import DAG

from .config import ExecutionConfig, ProfileConfig, ProjectConfig, RenderConfig, group_arguments
from .constants import ExecutionMode, InvocationMode, LoadMode, TestBehavior

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "DbtDag",
    "DbtTaskGroup",
    "ExecutionConfig",
    "ExecutionMode",
    "InvocationMode",
    "LoadMode",
    "ProfileConfig",
    "ProjectConfig",
    "RenderConfig",
    "TestBehavior",
]


def DbtTaskGroup(
    group_id: str = "dbt_task_group",
    project_config: Any = None,
    profile_config: Any = None,
    execution_config: Any = None,
    render_config: Any = None,
    operator_args: dict | None = None,
    **kwargs: Any,
) -> Any:
    arguments = _arguments(project_config, profile_config, execution_config, render_config, operator_args, kwargs)
    return dbt_group(group_id, **arguments, **kwargs)


class DbtDag(DAG):
    """A DAG whose tasks are those of the project, without a group around them."""

    def __init__(
        self,
        dag_id: str,
        project_config: Any = None,
        profile_config: Any = None,
        execution_config: Any = None,
        render_config: Any = None,
        operator_args: dict | None = None,
        **kwargs: Any,
    ) -> None:
        arguments = _arguments(project_config, profile_config, execution_config, render_config, operator_args, kwargs)
        super().__init__(dag_id, **kwargs)
        with self:
            dbt_group("dbt", prefix_group_id=False, **arguments)


def _arguments(project_config, profile_config, execution_config, render_config, operator_args, kwargs: dict) -> dict:
    for name in ("validation_config", "on_warning_callback"):
        if kwargs.pop(name, None) is not None:
            raise RecordingError(f"{name} of astronomer-cosmos is not supported here", "Leave it out")
    if not isinstance(project_config, ProjectConfig):
        raise RecordingError("no dbt project is named", "Write project_config=ProjectConfig(…)")
    return group_arguments(project_config, profile_config, execution_config, render_config, operator_args)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise RecordingError(
        f"{name} of astronomer-cosmos is not supported here",
        "Use DbtDag or DbtTaskGroup, or svc's own DbtOperator for a single command (docs/dbt.md)",
    )
