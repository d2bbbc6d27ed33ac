"""What a task asks the control plane for, answered from memory: values of the run, and variables and connections of files."""

from __future__ import annotations

import copy

from ..record.timezones import parse_iso
from ..run.channel import RequestFailed, Steady

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_ALONE = "dag.test() runs one run and knows no others"
_REPLACE = f"{_ALONE}. Replace the task in the test, or leave it out with mark_success_pattern"
# Questions about more than this run, and what to do.
_REFUSED = {
    "trigger_dag_run": f"{_ALONE}. Test the other DAG on its own, or replace the operator in the test",
    "get_dag": _REPLACE,
    "get_dag_run_state": _REPLACE,
    "next_run_after": f"{_ALONE}. Leave the task out with mark_success_pattern",
    "instances_of_run": f"{_ALONE}, and calls no listeners of runs",
    "ask_person": "dag.test() has nobody to ask. Leave the task out with mark_success_pattern",
}


class LocalXComs:
    """The values of a run by task, map index and key, as they travel."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, int, str], dict] = {}

    def put(self, task_id: str, map_index: int, entry: dict) -> None:
        place = (task_id, map_index, entry["key"])
        self._entries[place] = {**entry, "task_id": task_id, "map_index": map_index}

    def of_task(self, task_id: str, key: str, map_index: int | None) -> list[dict]:
        found = [
            entry
            for (task, index, name), entry in self._entries.items()
            if task == task_id and name == key and map_index in (None, index)
        ]
        return sorted(found, key=lambda entry: entry["map_index"])

    def of_instance(self, task_id: str, map_index: int) -> list[dict]:
        return [entry for (task, index, _), entry in self._entries.items() if (task, index) == (task_id, map_index)]

    def remove(self, task_id: str, map_index: int, key: str | None = None) -> None:
        for place in list(self._entries):
            if place[:2] == (task_id, map_index) and key in (None, place[2]):
                del self._entries[place]


class LocalStates:
    """The state stores of the run's task instances and of the assets. Nothing expires during a test."""

    def __init__(self) -> None:
        self._values: dict[tuple, dict] = {}

    def of(self, owner: tuple) -> dict:
        return self._values.setdefault(owner, {})


class LocalAssetEvents:
    """What the tasks of the run have left, for those after them."""

    def __init__(self) -> None:
        self._events: list[dict] = []

    def add(self, events: list[dict], source: dict) -> None:
        for event in events:
            left = {name: value for name, value in event.items() if name != "partition_keys"}
            keys = event.get("partition_keys") or [None]
            self._events += [{**left, **source, "partition_key": key} for key in keys]

    def found(
        self,
        name: str | None = None,
        uri: str | None = None,
        alias: str | None = None,
        after: str | None = None,
        before: str | None = None,
        ascending: bool = True,
        limit: int | None = None,
    ) -> list[dict]:
        """The same filters as the control plane has (packages/server/db/assets/task-events.ts)."""
        found = [
            {**event, "aliases": [event["alias"]] if event.get("alias") else []}
            for event in self._events
            if name in (None, event["asset"]["name"])
            and uri in (None, event["asset"]["uri"])
            and alias in (None, event["alias"])
            and (after is None or parse_iso(event["timestamp"]) >= parse_iso(after))
            and (before is None or parse_iso(event["timestamp"]) <= parse_iso(before))
        ]
        return (found if ascending else found[::-1])[:limit]


class LocalSecrets:
    """Variables and connections of the files that `dag.test()` was given, and what tasks have set since."""

    def __init__(self, variables: dict[str, str], connections: dict[str, Any]) -> None:
        self.variables = dict(variables)
        self.connections = dict(connections)


class LocalStore:
    """What the tasks of a run have in common. `states` lists the task instances as a control plane answers."""

    def __init__(self, secrets: LocalSecrets, states: Callable[[], list[dict]]) -> None:
        self.xcoms = LocalXComs()
        self.kept = LocalStates()
        self.events = LocalAssetEvents()
        self.secrets = secrets
        self.states = states
        # What is answered otherwise than by default, by method. Called with the channel and the parameters.
        self.answers: dict[str, Callable] = {}


class LocalChannel:
    is_ours = True

    def __init__(self, job: dict, store: LocalStore) -> None:
        self._dag_ids = (None, job["dag_id"])
        self._run_ids = (None, job["run"]["run_id"])
        self.task_id: str = job.get("task_id") or ""
        self.map_index: int = job.get("map_index", -1)
        self.try_number: int = job.get("try_number", 0)
        self._xcoms, self._secrets, self._events = store.xcoms, store.secrets, store.events
        self._states, self._answers = store.states, store.answers
        self._kept = store.kept
        self.steady = Steady()

    def request(self, method: str, **params):
        if method in self._answers:
            return self._answers[method](self, **params)
        if method in _REFUSED:
            raise RequestFailed(_REFUSED[method], "unavailable")
        answer: Callable[..., Any] | None = getattr(self, f"_{method}", None)
        if answer is None:
            raise RequestFailed(f"dag.test() does not support {method}", "unavailable")
        return answer(**params)

    def _get_xcom(self, task_id, map_index, key, dag_id=None, run_id=None, include_prior_dates=False) -> list:
        if dag_id not in self._dag_ids or run_id not in self._run_ids:
            return []
        return self._xcoms.of_task(task_id, key, map_index)

    def _set_xcom(self, **entry) -> None:
        self._xcoms.put(self.task_id, self.map_index, entry)

    def _delete_xcom(self, key: str) -> None:
        self._xcoms.remove(self.task_id, self.map_index, key)

    def _own_state(self) -> dict:
        return self._kept.of(("task", self.task_id, self.map_index))

    def _get_task_state(self, key: str) -> dict | None:
        return copy.deepcopy(self._own_state().get(key))

    def _set_task_state(self, key: str, value, **expiry) -> None:
        self._own_state()[key] = {"value": copy.deepcopy(value)}

    def _delete_task_state(self, key: str) -> None:
        self._own_state().pop(key, None)

    def _clear_task_state(self) -> None:
        self._own_state().clear()

    def _state_of_asset(self, name: str | None, uri: str | None) -> dict:
        return self._kept.of(("asset", name or uri))

    def _get_asset_state(self, key: str, name=None, uri=None) -> dict | None:
        return copy.deepcopy(self._state_of_asset(name, uri).get(key))

    def _set_asset_state(self, key: str, value, name=None, uri=None) -> None:
        self._state_of_asset(name, uri)[key] = {"value": copy.deepcopy(value)}

    def _delete_asset_state(self, key: str, name=None, uri=None) -> None:
        self._state_of_asset(name, uri).pop(key, None)

    def _clear_asset_state(self, name=None, uri=None) -> None:
        self._state_of_asset(name, uri).clear()

    def _external_states(self, dag_id, task_ids, task_group_id, logical_dates, run_ids) -> dict:
        """Those of the own run. Without task ids the question is about the run, with an empty list about all its tasks."""
        if dag_id not in self._dag_ids or run_ids is None or set(run_ids) - set(self._run_ids) or task_group_id:
            raise RequestFailed(_REPLACE, "unavailable")
        if task_ids is None:
            return {"states": [{"run_id": self._run_ids[1], "task_id": None, "map_index": -1, "state": "running"}]}
        return {"states": [row for row in self._states() if not task_ids or row["task_id"] in task_ids]}

    def _previous_run(self, state) -> None:
        """dag.test() runs one run, so none was before it."""

    def _previous_instance(self, state, before, map_index) -> None:
        """dag.test() runs one run, so none was before it."""

    def _get_variable(self, key: str):
        if key not in self._secrets.variables:
            raise RequestFailed(f"no variable {key}", "not_found")
        return self._secrets.variables[key]

    def _set_variable(self, key: str, value: str, description=None) -> None:
        self._secrets.variables[key] = value

    def _delete_variable(self, key: str) -> None:
        self._secrets.variables.pop(key, None)

    def _get_connection(self, id: str):
        if id not in self._secrets.connections:
            raise RequestFailed(f"no connection {id}", "not_found")
        return self._secrets.connections[id]

    def _add_masks(self, values) -> None:
        """The masks of this process have them already."""

    def _asset_events(self, triggering: bool = False, **wanted) -> list:
        """No event has come before this run."""
        return [] if triggering else self._events.found(**wanted)
