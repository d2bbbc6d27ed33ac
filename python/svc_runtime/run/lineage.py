"""`airflow.sdk.lineage`: what hooks say they read and wrote, kept for the plugin that reports it (OpenLineage)."""

from __future__ import annotations

import contextlib
import functools
import json
from collections import Counter, namedtuple

from ..record.assets import Asset
from .hooks import LoggingMixin

MAX_COLLECTED_ASSETS = 100
MAX_COLLECTED_EXTRA = 200

AssetLineageInfo = namedtuple("AssetLineageInfo", "asset count context")
ExtraLineageInfo = namedtuple("ExtraLineageInfo", "key value count context")


class HookLineage:
    def __init__(self, inputs: list | None = None, outputs: list | None = None, extra: list | None = None) -> None:
        self.inputs = inputs or []
        self.outputs = outputs or []
        self.extra = extra or []

    def __eq__(self, other) -> bool:
        return isinstance(other, HookLineage) and vars(other) == vars(self)

    __hash__ = None  # type: ignore[assignment]


class HookLineageCollector(LoggingMixin):
    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self._inputs: dict = {}
        self._outputs: dict = {}
        self._extra: dict = {}
        self._counts: Counter = Counter()

    def create_asset(
        self, *, scheme=None, uri=None, name=None, group=None, asset_kwargs=None, asset_extra=None
    ) -> Asset | None:
        """From a URI or a name; from parts, by the factory that the provider of the scheme declares."""
        more = {"group": group} if group else {}
        if uri or name:
            given = {key: value for key, value in (("uri", uri), ("name", name)) if value}
            return Asset(**given, **more, extra=asset_extra)
        if not scheme:
            return None
        from ..run.providers_manager import ProvidersManager

        factory = ProvidersManager().asset_factories.get(scheme)
        if factory is None:
            return None
        with contextlib.suppress(Exception):  # lineage must never be what fails a task
            return factory(**(asset_kwargs or {}), extra=asset_extra)
        return None

    def _add(self, kept: dict, context, parts: dict) -> None:
        if len(kept) >= MAX_COLLECTED_ASSETS:
            return
        asset = self.create_asset(**parts)
        if asset is not None:
            key = (asset.uri, json.dumps(asset.extra, sort_keys=True, default=str), id(context))
            kept[key] = (asset, context)
            self._counts[id(kept), key] += 1

    def add_input_asset(
        self, context, scheme=None, uri=None, name=None, group=None, asset_kwargs=None, asset_extra=None
    ):
        parts = {"scheme": scheme, "uri": uri, "name": name, "group": group}
        self._add(self._inputs, context, {**parts, "asset_kwargs": asset_kwargs, "asset_extra": asset_extra})

    def add_output_asset(
        self, context, scheme=None, uri=None, name=None, group=None, asset_kwargs=None, asset_extra=None
    ):
        parts = {"scheme": scheme, "uri": uri, "name": name, "group": group}
        self._add(self._outputs, context, {**parts, "asset_kwargs": asset_kwargs, "asset_extra": asset_extra})

    def add_extra(self, context, key: str, value) -> None:
        if not key or value is None or len(self._extra) >= MAX_COLLECTED_EXTRA:
            return
        entry = (key, json.dumps(value, sort_keys=True, default=str), id(context))
        self._extra[entry] = (key, value, context)
        self._counts[id(self._extra), entry] += 1

    def _listed(self, kept: dict) -> list:
        return [AssetLineageInfo(asset, self._counts[id(kept), key], context) for key, (asset, context) in kept.items()]

    @property
    def collected_assets(self) -> HookLineage:
        extra = [
            ExtraLineageInfo(key, value, self._counts[id(self._extra), entry], context)
            for entry, (key, value, context) in self._extra.items()
        ]
        return HookLineage(self._listed(self._inputs), self._listed(self._outputs), extra)

    @property
    def has_collected(self) -> bool:
        return bool(self._inputs or self._outputs or self._extra)


class NoOpCollector(HookLineageCollector):
    """When nobody will read it."""

    def add_input_asset(self, *_, **__) -> None: ...

    def add_output_asset(self, *_, **__) -> None: ...

    def add_extra(self, *_, **__) -> None: ...

    @property
    def collected_assets(self) -> HookLineage:
        return HookLineage()


class HookLineageReader(LoggingMixin):
    def __init__(self, **kwargs) -> None:
        super().__init__()
        self.lineage_collector = get_hook_lineage_collector()

    def retrieve_hook_lineage(self) -> HookLineage:
        return self.lineage_collector.collected_assets


@functools.lru_cache(1)
def get_hook_lineage_collector() -> HookLineageCollector:
    """Collects only where a provider with a plugin that reads it is installed."""
    from ..run.providers_manager import ProvidersManager

    reads = any("openlineage" in name for name in ProvidersManager().providers)
    return HookLineageCollector() if reads else NoOpCollector()
