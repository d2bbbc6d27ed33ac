"""Asset events of a running task: those it will leave (`outlet_events`), and those it may read.

Reading asks the control plane: asset_events{name|uri|alias …, after, before, ascending, limit} or
asset_events{triggering: true} answers a list of
`{"asset": {"name", "uri"}, "extra", "timestamp", "source_dag_id", "source_task_id", "source_run_id", "source_map_index"}`.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

from ..record.assets import Asset, AssetAlias, AssetNameRef, AssetUriRef, BaseAsset, Metadata
from .moments import moment
from .xcom_values import decode, encode

_PARTITION_KEY_LENGTH = 250
_PARTITIONS_AT_MOST = 1_000


class OutletEvent:
    """`outlet_events[asset].extra = …`; for an alias, `.add(asset, extra=…)`."""

    def __init__(self, key) -> None:
        self.key = key
        self.extra: dict = {}
        self.added: list = []
        self.partition_keys: set[str] = set()

    def add_partitions(self, keys: str | list[str]) -> None:
        """The task leaves an event for each key. Without keys, it leaves one with the partition of its run."""
        if isinstance(self.key, AssetAlias):
            raise TypeError("events of an alias have no partition keys: add them to the asset")
        for key in [keys] if isinstance(keys, str) else keys:
            if not isinstance(key, str) or not key.strip() or len(key) > _PARTITION_KEY_LENGTH:
                raise ValueError(f"a partition key is a text of 1 to {_PARTITION_KEY_LENGTH} characters, not {key!r}")
            self.partition_keys.add(key)
        if len(self.partition_keys) > _PARTITIONS_AT_MOST:
            raise ValueError(f"a task may leave events for {_PARTITIONS_AT_MOST} partitions of an asset at most")

    def add(self, asset, extra: dict | None = None) -> None:
        if not isinstance(self.key, AssetAlias):
            return
        asset = Asset(uri=asset) if isinstance(asset, str) else asset
        self.added.append((asset, dict(extra or {})))


class _ByName:
    """Lookups by name or URI in place of an asset object."""

    def for_asset(self, *, name: str | None = None, uri: str | None = None):
        if name and uri:
            return self[Asset(name=name, uri=uri)]  # type: ignore[index]
        if name:
            return self[AssetNameRef(name)]  # type: ignore[index]
        if uri:
            return self[AssetUriRef(uri)]  # type: ignore[index]
        raise ValueError("for_asset() needs name=, uri= or both")

    def for_asset_alias(self, *, name: str):
        return self[AssetAlias(name)]  # type: ignore[index]


class OutletEvents(_ByName, Mapping):
    def __init__(self, outlets) -> None:
        self._events: dict = {}
        for outlet in outlets:
            if isinstance(outlet, BaseAsset):
                self[outlet]

    def __getitem__(self, key) -> OutletEvent:
        # Older files name an asset by its URI.
        key = Asset(uri=key) if isinstance(key, str) else key
        if not isinstance(key, BaseAsset):
            raise TypeError(f"outlet_events is asked by asset or alias, not by {type(key).__name__}")
        if isinstance(key, (AssetNameRef, AssetUriRef)):
            key = next((event.key for event in self._events.values() if refers_to(key, event.key)), key)
        identity = _identity(key)
        if identity not in self._events:
            self._events[identity] = OutletEvent(key)
        return self._events[identity]

    def __iter__(self):
        return (event.key for event in self._events.values())

    def __len__(self) -> int:
        return len(self._events)

    def note(self, metadata: Metadata) -> None:
        """A `yield Metadata(...)` of the body."""
        if metadata.alias is not None:
            alias = metadata.alias if isinstance(metadata.alias, AssetAlias) else AssetAlias(str(metadata.alias))
            self[alias].add(metadata.asset, metadata.extra)
        else:
            self[metadata.asset].extra.update(metadata.extra)


def refers_to(ref, asset) -> bool:
    if isinstance(ref, AssetNameRef):
        return getattr(asset, "name", None) == ref.name
    return isinstance(ref, AssetUriRef) and getattr(asset, "uri", None) == ref.uri


def _identity(key) -> tuple:
    return (type(key).__name__, getattr(key, "name", None), getattr(key, "uri", None))


def events_of(outlets, events: OutletEvents) -> list:
    """What a successful task reports."""
    reported = []
    for outlet in outlets:
        for leaf in outlet.iter_leaves() if isinstance(outlet, BaseAsset) else ():
            event = events[leaf]
            if isinstance(leaf, AssetAlias):
                for asset, extra in event.added:
                    reported.append({"asset": _place(asset), "extra": encode(extra), "alias": leaf.name})
            else:
                keys = {"partition_keys": sorted(event.partition_keys)} if event.partition_keys else {}
                reported.append({"asset": _place(leaf), "extra": encode(event.extra), "alias": None, **keys})
    return reported


def _place(asset) -> dict:
    return {"name": getattr(asset, "name", None), "uri": getattr(asset, "uri", None)}


class AssetEvent:
    def __init__(self, entry: dict) -> None:
        place = entry.get("asset") or {}
        self.asset = Asset(name=place.get("name"), uri=place.get("uri"))
        self.uri = self.asset.uri
        self.extra = decode(entry.get("extra") or {})
        self.timestamp = moment(entry.get("timestamp"))
        self.aliases: list[str] = list(entry.get("aliases") or ())
        for name in ("source_dag_id", "source_task_id", "source_run_id", "source_map_index", "partition_key"):
            setattr(self, name, entry.get(name))

    def __repr__(self) -> str:
        return f"AssetEvent(asset={self.asset!r}, extra={self.extra!r}, timestamp={self.timestamp})"


class _Fetched(Sequence):
    """Events of an inlet, requested when they are first read. Filters change what the next read requests.

    `inlet_events[asset].after("2026-01-01").ascending(False).limit(5)`
    """

    def __init__(self, fetch) -> None:
        self._fetch = fetch
        self._wanted: dict = {}
        self._found: list | None = None

    def _want(self, **filters) -> _Fetched:
        self._wanted.update(filters)
        self._found = None
        return self

    def after(self, after: str | datetime.datetime) -> _Fetched:
        """At this moment or later."""
        return self._want(after=_moment_text(after))

    def before(self, before: str | datetime.datetime) -> _Fetched:
        """At this moment or earlier."""
        return self._want(before=_moment_text(before))

    def ascending(self, ascending: bool = True) -> _Fetched:
        """Oldest first, which is the default, or newest first. A limit counts in this order."""
        return self._want(ascending=bool(ascending))

    def limit(self, limit: int) -> _Fetched:
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise ValueError(f"limit() takes a number of 1 or more, not {limit!r}")
        return self._want(limit=limit)

    def _events(self) -> list:
        if self._found is None:
            self._found = [AssetEvent(entry) for entry in self._fetch(**self._wanted) or ()]
        return self._found

    def __len__(self) -> int:
        return len(self._events())

    def __getitem__(self, index):
        return self._events()[index]


def _moment_text(value: str | datetime.datetime) -> str:
    """The moment in ISO 8601 with an offset. A time without one is in UTC."""
    try:
        found = moment(value.isoformat() if isinstance(value, datetime.datetime) else str(value))
    except ValueError:
        found = None
    if found is None:
        raise ValueError(f"{value!r} is not a moment: write it in ISO 8601, such as 2026-01-31T00:00:00+00:00")
    return found.isoformat()


class InletEvents(_ByName, Mapping):
    def __init__(self, inlets, channel) -> None:
        self._inlets = [inlet for inlet in inlets if isinstance(inlet, BaseAsset)]
        self._channel = channel

    def __getitem__(self, key) -> Sequence:
        if isinstance(key, int):
            key = self._inlets[key]
        key = Asset(uri=key) if isinstance(key, str) else key
        if isinstance(key, AssetAlias):
            question = {"alias": key.name}
        elif isinstance(key, AssetNameRef):
            question = {"name": key.name}
        elif isinstance(key, AssetUriRef):
            question = {"uri": key.uri}
        else:
            question = {"name": key.name, "uri": key.uri}
        return _Fetched(lambda **wanted: self._channel.request("asset_events", **question, **wanted))

    def __iter__(self):
        return iter(self._inlets)

    def __len__(self) -> int:
        return len(self._inlets)


class TriggeringEvents(_ByName, Mapping):
    """`triggering_asset_events`: asset → the events that made this run start."""

    def __init__(self, channel) -> None:
        self._channel = channel
        self._by_asset: dict | None = None

    def _events(self) -> dict:
        if self._by_asset is None:
            self._by_asset = {}
            for entry in self._channel.request("asset_events", triggering=True) or ():
                event = AssetEvent(entry)
                self._by_asset.setdefault(event.asset, []).append(event)
        return self._by_asset

    def __getitem__(self, key) -> list:
        key = Asset(uri=key) if isinstance(key, str) else key
        if isinstance(key, (AssetNameRef, AssetUriRef)):
            key = next((asset for asset in self._events() if refers_to(key, asset)), key)
        elif isinstance(key, AssetAlias):
            found = [event for events in self._events().values() for event in events if key.name in event.aliases]
            if found:
                return found
        return self._events()[key]

    def __iter__(self):
        return iter(self._events())

    def __len__(self) -> int:
        return len(self._events())
