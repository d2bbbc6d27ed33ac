"""Asset events of a running task: those it will leave (`outlet_events`), and those it may read.

Reading asks the control plane: asset_events{name|uri|alias …} or asset_events{triggering: true} answers a list of
`{"asset": {"name", "uri"}, "extra", "timestamp", "source_dag_id", "source_task_id", "source_run_id", "source_map_index"}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..record.assets import Asset, AssetAlias, AssetNameRef, AssetUriRef, BaseAsset, Metadata
from .moments import moment
from .xcom_values import decode, encode


class OutletEvent:
    """`outlet_events[asset].extra = …`; for an alias, `.add(asset, extra=…)`."""

    def __init__(self, key) -> None:
        self.key = key
        self.extra: dict = {}
        self.added: list = []

    def add(self, asset, extra: dict | None = None) -> None:
        if not isinstance(self.key, AssetAlias):
            return
        asset = Asset(uri=asset) if isinstance(asset, str) else asset
        self.added.append((asset, dict(extra or {})))


class OutletEvents(Mapping):
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
                reported.append({"asset": _place(leaf), "extra": encode(event.extra), "alias": None})
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
        for name in ("source_dag_id", "source_task_id", "source_run_id", "source_map_index", "partition_key"):
            setattr(self, name, entry.get(name))

    def __repr__(self) -> str:
        return f"AssetEvent(asset={self.asset!r}, extra={self.extra!r}, timestamp={self.timestamp})"


class _Fetched(Sequence):
    """Events, asked for when somebody looks."""

    def __init__(self, fetch) -> None:
        self._fetch = fetch
        self._found: list | None = None

    def _events(self) -> list:
        if self._found is None:
            self._found = [AssetEvent(entry) for entry in self._fetch() or ()]
        return self._found

    def __len__(self) -> int:
        return len(self._events())

    def __getitem__(self, index):
        return self._events()[index]


class InletEvents(Mapping):
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
        return _Fetched(lambda: self._channel.request("asset_events", **question))

    def __iter__(self):
        return iter(self._inlets)

    def __len__(self) -> int:
        return len(self._inlets)


class TriggeringEvents(Mapping):
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
        return self._events()[Asset(uri=key) if isinstance(key, str) else key]

    def __iter__(self):
        return iter(self._events())

    def __len__(self) -> int:
        return len(self._events())
