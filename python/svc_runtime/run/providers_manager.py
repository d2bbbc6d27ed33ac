"""`ProvidersManager`: which provider packages this environment has, and what they offer, by their own metadata."""

from __future__ import annotations

import contextlib
import importlib
from collections import namedtuple
from collections.abc import Mapping
from functools import cached_property
from importlib.metadata import entry_points

ProviderInfo = namedtuple("ProviderInfo", "version data")
HookInfo = namedtuple(
    "HookInfo",
    "hook_class_name connection_id_attribute_name package_name hook_name connection_type connection_testable dialects",
    defaults=((),),
)
DialectInfo = namedtuple("DialectInfo", "name dialect_class_name provider_name")
PluginInfo = namedtuple("PluginInfo", "name plugin_class provider_name")


def _load(path: str | None):
    module, _, name = (path or "").rpartition(".")
    return getattr(importlib.import_module(module), name) if module else None


def _loads(path: str) -> bool:
    with contextlib.suppress(ImportError, AttributeError):
        return _load(path) is not None
    return False


class _Hooks(Mapping):
    """By connection type. Some of their facts only the class knows: it is loaded for the type that is asked for."""

    def __init__(self, declared: dict) -> None:
        self._declared = declared
        self._made: dict = {}

    def __getitem__(self, kind: str):
        if kind not in self._made:
            entry, package = self._declared[kind]
            self._made[kind] = _hook_info(kind, entry, package)
        return self._made[kind]

    def __iter__(self):
        return iter(self._declared)

    def __len__(self) -> int:
        return len(self._declared)


def _hook_info(kind: str, entry: dict, package: str) -> HookInfo:
    path = entry["hook-class-name"]
    hook = _load(path)
    argument = getattr(hook, "conn_name_attr", None) or "conn_id"
    name = getattr(hook, "hook_name", None) or entry.get("hook-name") or kind
    return HookInfo(path, argument, package, name, kind, hasattr(hook, "test_connection"), entry.get("dialects") or ())


class ProvidersManager:
    """One for the process: reading the metadata of many packages takes a moment."""

    _instance: ProvidersManager | None = None

    def __new__(cls) -> ProvidersManager:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    @cached_property
    def providers(self) -> dict[str, ProviderInfo]:
        found: dict = {}
        for point in entry_points(group="apache_airflow_provider"):
            with contextlib.suppress(Exception):  # a broken provider is not the one that is asked for
                data = point.load()()
                name = data["package-name"]
                found[name] = ProviderInfo(point.dist.version if point.dist else "", data)
        return dict(sorted(found.items()))

    def _listed(self, key: str):
        for name, provider in self.providers.items():
            for entry in provider.data.get(key) or ():
                yield name, entry

    @cached_property
    def hooks(self) -> Mapping:
        declared: dict = {}
        for name, entry in self._listed("connection-types"):
            declared.setdefault(entry["connection-type"], (entry, name))
        return _Hooks(declared)

    @cached_property
    def dialects(self) -> dict[str, DialectInfo]:
        return {
            entry["dialect-type"]: DialectInfo(entry["dialect-type"], entry["dialect-class-name"], name)
            for name, entry in self._listed("dialects")
        }

    @cached_property
    def plugins(self) -> list[PluginInfo]:
        return [PluginInfo(entry["name"], entry["plugin-class"], name) for name, entry in self._listed("plugins")]

    @cached_property
    def queue_class_names(self) -> list[str]:
        """Those that can be loaded: who asks loads all of them, and a provider may want packages that are only for some of it."""
        return sorted(entry for _, entry in self._listed("queues") if _loads(entry))

    @cached_property
    def filesystem_module_names(self) -> list[str]:
        return sorted(entry for _, entry in self._listed("filesystems"))

    @cached_property
    def extra_links_class_names(self) -> list[str]:
        return sorted(entry for _, entry in self._listed("extra-links"))

    @cached_property
    def notification(self) -> list[str]:
        return sorted(entry for _, entry in self._listed("notifications"))

    @cached_property
    def secrets_backend_class_names(self) -> list[str]:
        return sorted(entry for _, entry in self._listed("secrets-backends"))

    @cached_property
    def taskflow_decorators(self) -> dict[str, str]:
        """Paths by name: loading one loads its provider."""
        return {entry["name"]: entry["class-name"] for _, entry in self._listed("task-decorators")}

    def _of_uris(self, key: str) -> dict:
        found: dict = {}
        for _, entry in self._listed("asset-uris"):
            with contextlib.suppress(ImportError, AttributeError):
                made = _load(entry.get(key))
                found.update({scheme: made for scheme in entry.get("schemes") or () if made is not None})
        return found

    @cached_property
    def asset_uri_handlers(self) -> dict:
        return self._of_uris("handler")

    @cached_property
    def asset_factories(self) -> dict:
        return self._of_uris("factory")

    @cached_property
    def asset_to_openlineage_converters(self) -> dict:
        return self._of_uris("to_openlineage_converter")

    @cached_property
    def provider_configs(self) -> list[tuple[str, dict]]:
        return [(name, data) for name, (_, data) in self.providers.items() if data.get("config")]

    @cached_property
    def _defaults(self) -> dict:
        found: dict = {}
        for _, provider in self.provider_configs:
            for section, about in provider["config"].items():
                for option, facts in (about.get("options") or {}).items():
                    if facts.get("default") is not None:
                        found.setdefault((section.lower(), option.lower()), str(facts["default"]))
        return found

    def default_setting(self, section: str, key: str) -> str | None:
        """What a provider declares as the default of one of its settings."""
        return self._defaults.get((section.lower(), key.lower()))

    def settings_of(self, section: str) -> list[str]:
        """Names of a section's settings that providers declare a default for."""
        return [key for name, key in self._defaults if name == section.lower()]

    def __getattr__(self, name: str):
        if name.startswith("initialize_"):
            return lambda: None  # everything is read when it is asked for
        raise AttributeError(name)


ProvidersManagerTaskRuntime = ProvidersManager


def svc_make_ready() -> None:
    """What whoever loads this module will ask for, and takes 100 ms with twenty providers."""
    _ = ProvidersManager().providers
