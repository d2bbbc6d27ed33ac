"""What `run_dag` and `run_task` return. The texts of these objects are what pytest shows of a failed assertion."""

from __future__ import annotations

from collections.abc import Sequence

from ..dag_test.results import TestedDagRun, TestedTaskInstance
from ..enums import DagRunState, TaskInstanceState
from ..run.asset_events import AssetEvent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .author_line import AuthorLine
    from .task_log import TaskLog


class _States:
    """Shortcuts for the state of one or more instances."""

    @property
    def _states(self) -> list[str | None]:
        raise NotImplementedError

    def _all(self, state: TaskInstanceState) -> bool:
        return bool(self._states) and all(one == state for one in self._states)

    @property
    def succeeded(self) -> bool:
        return self._all(TaskInstanceState.SUCCESS)

    @property
    def failed(self) -> bool:
        return self._all(TaskInstanceState.FAILED)

    @property
    def skipped(self) -> bool:
        return self._all(TaskInstanceState.SKIPPED)


class TaskResult(TestedTaskInstance, _States):
    """A task instance, as it ended."""

    __test__ = False  # for pytest

    def __init__(self, shown: dict, run: RunResult, job: dict, channel) -> None:
        super().__init__(shown, run, job, channel)
        self._log: TaskLog | None = None
        self._pushed: list[str] = []
        # The exception that ended the last try, and the author's line that raised it.
        self.error: BaseException | None = None
        self.line: AuthorLine | None = None
        # The values of the template fields.
        self.rendered: dict[str, Any] = {}

    @property
    def _states(self) -> list[str | None]:
        return [self.state]

    @property
    def xcom(self) -> Any:
        """The value that the task returned."""
        return self.xcom_pull()

    @property
    def xcoms(self) -> dict[str, Any]:
        """All values that the task pushed, by key."""
        return {key: self.xcom_pull(key=key) for key in self._pushed}

    @property
    def log(self) -> str:  # type: ignore[override]  # the text of it, and no logger
        """What the task logged and printed, of all tries."""
        return "" if self._log is None else str(self._log)

    @property
    def tries(self) -> int:
        return self.try_number

    @property
    def name(self) -> str:
        return self.task_id if self.map_index < 0 else f"{self.task_id}[{self.map_index}]"

    def __repr__(self) -> str:
        told = [str(self.state or "not run")]
        if self.state == TaskInstanceState.FAILED:
            told += [str(self.error_text)] if self.error_text else []
            told += [f"at {self.line}"] if self.line is not None else []
        return f"<task {self.name}: {', '.join(told)}>"

    @property
    def error_text(self) -> str | None:
        if self.error is None:
            return self.failure
        return f"{type(self.error).__name__}: {self.error}"


class MappedTask(_States, Sequence):
    """The instances of a mapped task, by map index."""

    __test__ = False  # for pytest

    def __init__(self, task_id: str, instances: list[TaskResult]) -> None:
        self.task_id = task_id
        self.instances = instances

    def __getitem__(self, index):
        return self.instances[index]

    def __len__(self) -> int:
        return len(self.instances)

    @property
    def _states(self) -> list[str | None]:
        return self.states

    @property
    def states(self) -> list[str | None]:
        return [one.state for one in self.instances]

    @property
    def xcom(self) -> list:
        """The values that the instances returned, in the order of their map indexes."""
        return [one.xcom for one in self.instances]

    @property
    def log(self) -> str:
        return "\n".join(one.log for one in self.instances)

    @property
    def tries(self) -> list[int]:
        return [one.tries for one in self.instances]

    def __repr__(self) -> str:
        return f"<mapped task {self.task_id}: {self.instances}>"


class MissedDeadline:
    def __init__(self, position: int, at) -> None:
        self.position = position
        self.at = at

    def __repr__(self) -> str:
        return f"<deadline {self.position}, missed at {self.at}>"


class RunResult(TestedDagRun):
    """A run, as it ended."""

    __test__ = False  # for pytest

    svc_instances: list[TaskResult]  # type: ignore[assignment]

    def __init__(self, job: dict, dag) -> None:
        super().__init__(job, dag)
        # The asset events that the tasks left.
        self.asset_events: list[AssetEvent] = []
        self.missed_deadlines: list[MissedDeadline] = []

    @property
    def succeeded(self) -> bool:
        return self.state == DagRunState.SUCCESS

    @property
    def failed(self) -> bool:
        return self.state == DagRunState.FAILED

    def task(self, task_id: str) -> Any:
        """A TaskResult, or a MappedTask for a task that was expanded."""
        found = [one for one in self.svc_instances if one.task_id == task_id]
        if not found:
            known = ", ".join(sorted({one.task_id for one in self.svc_instances})) or "none"
            raise KeyError(f"the run has no task {task_id!r}. Its tasks are: {known}")
        return found[0] if len(found) == 1 and found[0].map_index < 0 else MappedTask(task_id, found)

    @property
    def states(self) -> dict[str, str | None]:
        """The state of each task instance by its name, such as `load` or `double[2]`."""
        return {one.name: None if one.state is None else str(one.state) for one in self.svc_instances}

    @property
    def failed_tasks(self) -> list[TaskResult]:
        return [one for one in self.svc_instances if one.state == TaskInstanceState.FAILED]

    def __repr__(self) -> str:
        failed = "".join(f", {one!r}" for one in self.failed_tasks)
        return f"<run of {self.dag_id}: {self.state}{failed}>"
