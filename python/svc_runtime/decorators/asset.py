"""`@asset`: a function that is an asset, and the one-task DAG that produces it."""

from __future__ import annotations

import inspect

from ..exceptions import RecordingError
from ..record import current
from ..record.assets import Asset, BaseAsset
from ..record.dag import DAG

_DAG_OPTIONS = (
    "is_paused_upon_creation",
    "dag_display_name",
    "description",
    "params",
    "on_success_callback",
    "on_failure_callback",
    "access_control",
    "owner_links",
    "tags",
)
_CONTEXT_NAMES = ("self", "context", "outlet_events")


def _inlets_of(function) -> list:
    """Function arguments other than self, context and outlet_events name the assets it reads."""
    names = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in _CONTEXT_NAMES and parameter.default is parameter.empty:
            names.append(Asset.ref(name=name))
    return names


def _build_dag(function, *, dag_id: str, schedule, options: dict, outlets: list, definition) -> None:
    from .asset_operator import _AssetMainOperator

    with DAG(dag_id, schedule=schedule, **options):
        _AssetMainOperator(
            task_id=function.__name__,
            python_callable=function,
            definition_name=function.__name__,
            uri=getattr(definition, "uri", None),
            inlets=_inlets_of(function),
            outlets=outlets,
        )


class AssetDefinition(Asset):
    """The asset a decorated function stands for; usable in schedules and outlets."""


class MultiAssetDefinition(BaseAsset):
    def __init__(self, name: str, outlets: list) -> None:
        self.name = name
        self.outlets = outlets
        self.objects = outlets

    def iter_leaves(self):
        for outlet in self.outlets:
            yield from outlet.iter_leaves()


def _split(options: dict) -> tuple[dict, dict]:
    unknown = set(options) - set(_DAG_OPTIONS) - {"name", "uri", "group", "extra", "watchers", "dag_id"}
    if unknown:
        raise TypeError(f"@asset got unexpected arguments {sorted(unknown)}")
    dag_options = {name: options[name] for name in _DAG_OPTIONS if options.get(name) is not None}
    asset_options = {name: options[name] for name in ("uri", "extra", "watchers") if options.get(name) is not None}
    return dag_options, asset_options


def _check_function(function, name: str) -> None:
    if current.dag_stack:
        raise RecordingError(
            "@asset is used inside a DAG", "Move it to the top level of the file; it makes its own DAG"
        )
    if name != function.__name__:
        return
    if name in _CONTEXT_NAMES:
        raise ValueError(f"prohibited name for asset: {name}")


class asset:
    """Written in lower case because authors use it as a decorator."""

    def __init__(self, *, schedule, **options) -> None:
        self.schedule = schedule
        self.options = options

    def __call__(self, function) -> AssetDefinition:
        dag_options, asset_options = _split(self.options)
        name = self.options.get("name") or function.__name__
        _check_function(function, name)
        definition = AssetDefinition(name=name, group=self.options.get("group") or "asset", **asset_options)
        _build_dag(
            function,
            dag_id=self.options.get("dag_id") or name,
            schedule=self.schedule,
            options=dag_options,
            outlets=[definition],
            definition=definition,
        )
        return definition

    class multi:
        def __init__(self, *, schedule, outlets, **options) -> None:
            self.schedule = schedule
            self.outlets = list(outlets)
            self.options = options

        def __call__(self, function) -> MultiAssetDefinition:
            if not self.outlets:
                raise ValueError("no outlets provided")
            dag_options, _ = _split(self.options)
            name = self.options.get("name") or function.__name__
            _check_function(function, name)
            _build_dag(
                function,
                dag_id=self.options.get("dag_id") or name,
                schedule=self.schedule,
                options=dag_options,
                outlets=self.outlets,
                definition=None,
            )
            return MultiAssetDefinition(name, self.outlets)
