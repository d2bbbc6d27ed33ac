"""`task_state_store` and `asset_state_store` of the context: values that outlive a try, or all runs.

The control plane keeps them as JSON text (packages/server/agents/calls/state-calls.ts). A value is plain JSON, as on Airflow:
text, numbers, booleans, lists and dicts.
"""

from __future__ import annotations

import math
from datetime import timedelta

from ..record.assets import Asset, AssetAlias, AssetNameRef, AssetUriRef, BaseAsset
from .channel import RequestFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .channel import Channel

NEVER_EXPIRE = timedelta.max
# The control plane counts seconds in 32 bits: 68 years.
_MOST_SECONDS = 2**31 - 1


class NotJson(TypeError, ValueError):
    """Airflow raises either, depending on the store."""


class _Store:
    """`_of` names what the values belong to, for each request."""

    def __init__(self, channel: Channel, kind: str, of: dict) -> None:
        self._channel = channel
        self._kind = kind
        self._of = of

    def _ask(self, verb: str, **params):
        try:
            return self._channel.request(f"{verb}_{self._kind}_state", **self._of, **params)
        except RequestFailed as failure:
            if failure.code in ("invalid", "too_large", "not_found"):
                raise ValueError(str(failure)) from None
            raise

    def _get(self, key: str, default):
        found = self._ask("get", key=_text(key))
        value = None if found is None else found["value"]
        return default if value is None else value

    def _set(self, key: str, value, **more) -> None:
        if value is None:
            raise ValueError("Cannot set value as None: delete the key instead")
        _check(value, f"the value of {key!r}")
        self._ask("set", key=_text(key), value=value, **more)

    def delete(self, key: str) -> None:
        """A key that does not exist is no error."""
        self._ask("delete", key=_text(key))

    async def adelete(self, key: str) -> None:
        await _in_thread(self.delete, key)

    def clear(self) -> None:
        """Deletes all keys."""
        self._ask("clear")

    async def aclear(self) -> None:
        await _in_thread(self.clear)


class TaskStateStoreAccessor(_Store):
    def __init__(self, channel: Channel) -> None:
        super().__init__(channel, "task", {})

    def get(self, key: str, default=None):
        return self._get(key, default)

    async def aget(self, key: str, default=None):
        return await _in_thread(self.get, key, default)

    def set(self, key: str, value, *, retention: timedelta | None = None) -> None:
        """`retention`: how long the value is kept. None: as configured (`state_store.default_retention`)."""
        self._set(key, value, **_retention(retention))

    async def aset(self, key: str, value, *, retention: timedelta | None = None) -> None:
        await _in_thread(lambda: self.set(key, value, retention=retention))

    def __repr__(self) -> str:
        return "<TaskStateStoreAccessor>"


class AssetStateStoreAccessor(_Store):
    def __init__(self, channel: Channel, of: dict) -> None:
        super().__init__(channel, "asset", of)

    def get(self, key: str, default=None):
        return self._get(key, default)

    async def aget(self, key: str, default=None):
        return await _in_thread(self.get, key, default)

    def set(self, key: str, value) -> None:
        self._set(key, value)

    async def aset(self, key: str, value) -> None:
        await _in_thread(self.set, key, value)

    def __repr__(self) -> str:
        return f"<AssetStateStoreAccessor {self._of}>"


class AssetStateStoreAccessors:
    """The stores of all assets that the task reads or writes. With a single asset its methods are here, too."""

    def __init__(self, channel: Channel, inlets: list, outlets: list) -> None:
        self._channel = channel
        self._stores: dict[tuple, AssetStateStoreAccessor] = {}
        for given in (*inlets, *outlets):
            for leaf in given.iter_leaves() if isinstance(given, BaseAsset) else ():
                of = _named(leaf)
                if of:
                    self._stores.setdefault(tuple(of.items()), AssetStateStoreAccessor(channel, of))

    def __getitem__(self, asset) -> AssetStateStoreAccessor:
        if not isinstance(asset, (Asset, AssetNameRef, AssetUriRef)):
            raise TypeError(f"Expected Asset, AssetNameRef, or AssetUriRef; got {type(asset).__name__}")
        wanted = _named(asset)
        for key, store in self._stores.items():
            own = dict(key)
            # A reference names an asset by its name or its URI alone.
            shared = wanted.keys() & own.keys()
            if shared and all(wanted[name] == own[name] for name in shared):
                return store
        raise KeyError(f"{asset!r} is not in this task's inlets or outlets")

    def _single(self) -> AssetStateStoreAccessor:
        if len(self._stores) != 1:
            raise ValueError(
                f"Task has {len(self._stores)} concrete inlets and outlets — use context['asset_state_store'][MY_ASSET] "
                "to specify which"
            )
        return next(iter(self._stores.values()))

    def get(self, key: str, default=None):
        return self._single().get(key, default)

    async def aget(self, key: str, default=None):
        return await self._single().aget(key, default)

    def set(self, key: str, value) -> None:
        self._single().set(key, value)

    async def aset(self, key: str, value) -> None:
        await self._single().aset(key, value)

    def delete(self, key: str) -> None:
        self._single().delete(key)

    async def adelete(self, key: str) -> None:
        await self._single().adelete(key)

    def clear(self) -> None:
        self._single().clear()

    async def aclear(self) -> None:
        await self._single().aclear()

    def __repr__(self) -> str:
        return f"<AssetStateStoreAccessors {[dict(key) for key in self._stores]}>"


async def _in_thread(function, *args):
    """The connection to the agent blocks, so a coroutine asks from a thread."""
    import asyncio

    return await asyncio.to_thread(function, *args)


def has_state(assets: list) -> bool:
    """True when one of the assets can have a state store: an alias has none."""
    return any(
        not isinstance(leaf, AssetAlias)
        for given in assets
        if isinstance(given, BaseAsset)
        for leaf in given.iter_leaves()
    )


def _named(asset) -> dict:
    if isinstance(asset, Asset):
        return {"name": asset.name, "uri": asset.uri}
    if isinstance(asset, AssetNameRef):
        return {"name": asset.name}
    return {"uri": asset.uri} if isinstance(asset, AssetUriRef) else {}


def _retention(given: timedelta | None) -> dict:
    if given is None:
        return {}
    if not isinstance(given, timedelta):
        raise TypeError(f"retention must be a timedelta, NEVER_EXPIRE or None, not {type(given).__name__}")
    if given == NEVER_EXPIRE:
        return {"never_expires": True}
    return {"expires_in": min(max(math.ceil(given.total_seconds()), 0), _MOST_SECONDS)}


def _text(key) -> str:
    if not isinstance(key, str):
        raise NotJson(f"a key must be text, not {type(key).__name__}")
    return key


def _check(value: Any, what: str) -> None:
    """Refuses what would come back as something else."""
    if isinstance(value, dict):
        for name, item in value.items():
            if not isinstance(name, str):
                raise NotJson(f"{what} has the key {name!r}: keys must be text")
            _check(item, what)
    elif isinstance(value, list):
        for item in value:
            _check(item, what)
    elif isinstance(value, float) and not math.isfinite(value):
        raise NotJson(f"{what} has {value}, which is no JSON: keep it as text")
    elif not (value is None or isinstance(value, (str, bool, int, float))):
        raise NotJson(
            f"{what} has a {type(value).__name__}: a state store keeps text, numbers, booleans, lists and dicts. "
            "Keep a date as value.isoformat(), and a tuple as a list"
        )
