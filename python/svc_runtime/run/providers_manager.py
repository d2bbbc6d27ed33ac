"""`ProvidersManager`: which provider packages this environment has, and which hooks they offer, by their own metadata."""

from __future__ import annotations

import contextlib
from collections import namedtuple
from functools import cached_property
from importlib.metadata import entry_points

ProviderInfo = namedtuple("ProviderInfo", "version data")
HookInfo = namedtuple("HookInfo", "hook_class_name connection_type package_name")


class ProvidersManager:
    @cached_property
    def providers(self) -> dict[str, ProviderInfo]:
        found: dict = {}
        for point in entry_points(group="apache_airflow_provider"):
            with contextlib.suppress(Exception):  # a broken provider is not the one that is asked for
                data = point.load()()
                name = data["package-name"]
                found[name] = ProviderInfo(point.dist.version if point.dist else "", data)
        return found

    @cached_property
    def hooks(self) -> dict[str, HookInfo]:
        found: dict = {}
        for name, provider in self.providers.items():
            for entry in provider.data.get("connection-types", ()):
                kind = entry["connection-type"]
                found.setdefault(kind, HookInfo(entry["hook-class-name"], kind, name))
        return found


ProvidersManagerTaskRuntime = ProvidersManager
