"""What a test gives to a run, checked and in the form of the run."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field

from ..dag_test.secret_files import connection_of, variable_of
from ..enums import DagRunType
from ..record.assets import Asset
from ..record.timezones import to_utc
from ..run.clock import dag_zone
from ..run.moments import iso
from ..run.xcom_values import encode
from ..run.xcoms import RETURN_KEY
from .clock import read_moment
from .recorded_try import RecordedTry
from .schedule import ScheduledRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any


class InstanceValues:
    """The values of a mapped task that ran, by map index. Instances that pushed none have none."""

    def __init__(self, values: dict[int, Any], count: int) -> None:
        self.values = values
        self.count = count


class GivenValues:
    """The values of one task. A list that a mapped task is given has one value for each instance."""

    def __init__(self, task, values: dict[str, Any]) -> None:
        self._values = values
        self._is_mapped = task.is_mapped or task.get_closest_mapped_task_group() is not None

    @property
    def length(self) -> int | None:
        """How many instances the values are for, of a task that is mapped."""
        lengths = [len(value) for value in self._values.values() if isinstance(value, list)]
        lengths += [value.count for value in self._values.values() if isinstance(value, InstanceValues)]
        return max(lengths, default=None) if self._is_mapped else None

    def of_instance(self, map_index: int) -> dict[str, Any]:
        return {
            key: self._one(value, map_index)
            for key, value in self._values.items()
            if not isinstance(value, InstanceValues) or map_index in value.values
        }

    def _one(self, value, map_index: int):
        if isinstance(value, InstanceValues):
            return value.values[map_index]
        if not self._is_mapped or map_index < 0 or not isinstance(value, list):
            return value
        return value[map_index] if map_index < len(value) else None


@dataclass
class Given:
    run: dict
    interval: dict | None = None
    connections: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    xcoms: dict[str, GivenValues] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    events: list[dict] = field(default_factory=list)
    takes: dict[str, datetime.timedelta] = field(default_factory=dict)
    # The only task that runs, and the only map index of it.
    only: tuple[str, int | None] | None = None
    # The try that runs again, and only once.
    recorded: RecordedTry | None = None
    # Answers for variables and connections that are not given: takes the kind and the name.
    ask: Callable[[str, str], str | None] | None = None


def values_of(dag, xcoms: Mapping | None) -> dict[str, GivenValues]:
    """Keys are a task id, for what the task returned, or a task id and a key."""
    found: dict[str, dict[str, Any]] = {}
    for place, value in (xcoms or {}).items():
        task_id, key = place if isinstance(place, tuple) else (place, RETURN_KEY)
        check_tasks(dag, "xcoms", [task_id])
        found.setdefault(task_id, {})[key] = value
    return {task_id: GivenValues(dag.get_task(task_id), values) for task_id, values in found.items()}


def check_tasks(dag, argument: str, task_ids: Iterable[str]) -> None:
    for task_id in task_ids:
        if task_id not in dag.task_dict:
            known = ", ".join(sorted(dag.task_dict)) or "none"
            raise ValueError(
                f"{argument} names the task {task_id!r}, which {dag.dag_id} does not have. It has: {known}"
            )


def connections_of(given: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: connection_of("connections", name, _plain(value)) for name, value in (given or {}).items()}


def _plain(value):
    return value.get_uri() if hasattr(value, "get_uri") else value


def variables_of(given: Mapping[str, Any] | None) -> dict[str, str]:
    return {name: variable_of(value) for name, value in (given or {}).items()}


def events_of(given: Mapping | None, now: datetime.datetime) -> list[dict]:
    """By asset, or by its URI: the extra of an event, or a list of these."""
    events = []
    for key, extras in (given or {}).items():
        asset = Asset(uri=key) if isinstance(key, str) else key
        for extra in extras if isinstance(extras, list) else [extras]:
            place = {"asset": {"name": asset.name, "uri": asset.uri}, "alias": None}
            origin = {"source_dag_id": None, "source_task_id": None, "source_run_id": None, "source_map_index": -1}
            events.append({**place, **origin, "extra": encode(dict(extra or {})), "timestamp": iso(now)})
    return events


def durations_of(dag, given: Mapping[str, Any] | None) -> dict[str, datetime.timedelta]:
    check_tasks(dag, "takes", given or {})
    return {
        task_id: value if isinstance(value, datetime.timedelta) else datetime.timedelta(seconds=value)
        for task_id, value in (given or {}).items()
    }


def moment_in(dag, at) -> datetime.datetime:
    """A moment without a time zone is in that of the DAG."""
    return read_moment(at, dag_zone(dag))


def run_of(at: datetime.datetime, *, conf, by_assets: bool, scheduled: ScheduledRun | None) -> tuple[dict, dict | None]:
    """The run, and its data interval where it is known already."""
    kind = DagRunType.MANUAL
    if scheduled is not None:
        kind = DagRunType.SCHEDULED
    elif by_assets:
        kind = DagRunType.ASSET_TRIGGERED
    run = {
        "run_id": f"{kind.value}__{at.isoformat()}",
        "run_type": kind.value,
        "logical_date": iso(at),
        "run_after": iso(at),
        "conf": dict(conf or {}),
    }
    if scheduled is None:
        return run, None
    start, end = to_utc(scheduled.data_interval_start), to_utc(scheduled.data_interval_end)
    run |= {"logical_date": iso(scheduled.logical_date), "run_after": iso(scheduled.run_after)}
    return run, {"data_interval_start": iso(start), "data_interval_end": iso(end)}
