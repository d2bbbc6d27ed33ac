"""Values of other tasks, as the running task sees them.

The job brings the return values of direct upstream tasks along (`xcoms`, complete for the tasks in `prefetched`), so the
usual pull costs no round trip. Everything else is asked for: get_xcom answers a list of
`{"task_id", "map_index", "key", "value"}`, ordered by task and map index; `map_index: null` asks for all instances. An
entry with "stored" names a large value, which is fetched when it is decoded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import NoneType

from ..record.notset import NOTSET
from .channel import RequestFailed
from .xcom_transfer import Values
from .xcom_values import XComTooLarge

RETURN_KEY = "return_value"


class LazySequence(Sequence):
    """Values of the instances of a mapped task, fetched and decoded when somebody looks.

    When every instance is known to have a value, item i is that of instance i and is fetched alone: thousands of instances
    that are each expanded over one of thousands of values must not each fetch them all.
    """

    svc_lazy_sequence = True

    def __init__(self, fetch, value_of, instances: int | None = None, *, is_none_when_empty: bool = False) -> None:
        self._fetch = fetch
        self._value_of = value_of
        self._is_none_when_empty = is_none_when_empty
        self._instances = instances
        self._length: int | None = None
        self._raw: list | None = None

    def expect_length(self, length: int | None) -> None:
        """How many values the scheduler has counted."""
        if length and length == self._instances:
            self._length = length

    def or_none(self):
        """The argument that a body gets."""
        return None if self._is_none_when_empty and len(self) == 0 else self

    def _entries(self) -> list:
        if self._raw is None:
            self._raw = self._fetch(None)
        return self._raw

    def __len__(self) -> int:
        return self._length if self._length is not None else len(self._entries())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self._value_of(entry) for entry in self._entries()[index]]
        if self._length is not None and self._raw is None and 0 <= index < self._length:
            found = self._fetch(index)
            if found:
                return self._value_of(found[0])
        return self._value_of(self._entries()[index])

    def __iter__(self):
        return (self._value_of(entry) for entry in self._entries())

    def __eq__(self, other) -> bool:
        return isinstance(other, (list, LazySequence)) and list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self))


class XComs:
    def __init__(self, job: dict, channel, own_ids: tuple) -> None:
        self._channel = channel
        self._own_ids = own_ids
        self._run_id = job["run"]["run_id"]
        self._own_task, self._own_index = job.get("task_id"), job.get("map_index", -1)
        self._prefetched = set(job.get("prefetched") or ())
        self._known: dict = {}
        for entry in job.get("xcoms") or ():
            self._known.setdefault((entry["task_id"], entry["key"]), []).append(entry)
        for entries in self._known.values():
            entries.sort(key=lambda entry: entry["map_index"])
        self._instances = job.get("upstream_lengths") or {}
        self.values = Values(job, channel)
        # The entries that this instance has pushed or, for its callbacks, returned.
        self.own: dict = {}

    def entries(self, task_id, key: str, *, map_index=None, dag_id=None, run_id=None, prior: bool = False) -> list:
        """Raw entries. `map_index` None means every instance."""
        here = dag_id in (None, *self._own_ids) and run_id in (None, self._run_id)
        if here and not prior and key == RETURN_KEY and task_id in self._prefetched:
            found = self._known.get((task_id, key), [])
            return found if map_index is None else [entry for entry in found if entry["map_index"] == map_index]
        own = None
        if here and not prior and task_id == self._own_task and key in self.own:
            own = {**self.own[key], "map_index": self._own_index}
            if map_index == self._own_index or self._own_index < 0:
                return [own] if map_index in (None, self._own_index) else []
        params = {"task_id": task_id, "map_index": map_index, "key": key}
        if not here and dag_id not in (None, *self._own_ids):
            params["dag_id"] = dag_id
        if run_id is not None and run_id != self._run_id:
            params["run_id"] = run_id
        if prior:
            params["include_prior_dates"] = True
        found = self._channel.request("get_xcom", **params) or []
        if own is None or map_index is not None:
            return found
        others = [entry for entry in found if entry["map_index"] != self._own_index]
        return sorted([*others, own], key=lambda entry: entry["map_index"])

    def one(self, task_id, key: str, map_index: int, **place):
        """NOTSET when there is none: None is a value."""
        found = self.entries(task_id, key, map_index=map_index, **place)
        return self.values.of(found[0]) if found else NOTSET

    def all(self, task_id, key: str, within: range | None = None, *, is_none_when_empty: bool = False) -> LazySequence:
        """Of every instance, or of those `within` a range of map indexes."""

        def fetch(map_index: int | None) -> list:
            found = self.entries(task_id, key, map_index=map_index)
            return found if within is None else [entry for entry in found if entry["map_index"] in within]

        instances = None if within is not None else self._instances.get(task_id)
        return LazySequence(fetch, self.values.of, instances, is_none_when_empty=is_none_when_empty)

    def push(self, key: str, value) -> None:
        """At once: others may be waiting for it while this task still runs."""
        entry = self.values.entry(key, value)
        try:
            self._channel.request("set_xcom", **entry)
        except RequestFailed as failure:
            if failure.code == "too_large":
                raise XComTooLarge(str(failure)) from None
            raise
        self.own[key] = entry

    def delete(self, key: str) -> None:
        """Of this task; the author's backend is told first."""
        if self.values.backend is not None:
            for entry in self.entries(self._own_task, key, map_index=self._own_index):
                self.values.purge(entry)
        self._channel.request("delete_xcom", key=key)
        self.own.pop(key, None)


def pull(xcoms: XComs, task_ids, key, *, map_indexes=NOTSET, default=None, **place):
    """xcom_pull(): all values of the instances asked for. One value of one task comes bare, everything else as a list.

    Without `map_indexes` a mapped task gives the values of all its instances, also to a task in the same mapped group.
    """
    found: list = []
    for task_id in [task_ids] if isinstance(task_ids, str) else task_ids:
        if map_indexes is NOTSET:
            entries = xcoms.entries(task_id, key, **place)
            found += [xcoms.values.of(entry) for entry in entries] if entries else [default]
            continue
        for index in _indexes(map_indexes):
            value = xcoms.one(task_id, key, index, **place)
            found.append(default if value is NOTSET else value)
    several = not isinstance(task_ids, str) or not (map_indexes is NOTSET or isinstance(map_indexes, (int, NoneType)))
    return found if several or len(found) != 1 else found[0]


def _indexes(given) -> Iterable:
    """None means the instance of a task that is not mapped."""
    if given is None:
        return [-1]
    if isinstance(given, int):
        return [given]
    if not isinstance(given, Iterable):
        raise TypeError(f"map_indexes must be an int or several of them, not {type(given).__name__}")
    return given
