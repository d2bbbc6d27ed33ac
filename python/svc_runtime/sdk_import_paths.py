"""Rows of the table in import_paths.py for modules of the task SDK beyond those of usual DAG files. Same form."""

from __future__ import annotations

_HERE = "svc_runtime.for_sdk."
_RUN = "svc_runtime.run."


def _names(module: str, names: str) -> dict:
    return dict.fromkeys(names.split(), module)


HOME: dict[str, str] = {
    **_names(_HERE + "listener", "ListenerManager get_listener_manager"),
    **_names(_HERE + "contexts", "DagContext TaskGroupContext"),
    **_names(_HERE + "conditions", "run_if skip_if"),
    **_names(_HERE + "python_virtualenv", "prepare_virtualenv"),
    **_names(_HERE + "operator_resources", "Resource CpuResource RamResource DiskResource GpuResource Resources"),
    "validate_group_key": "svc_runtime.record.node",
    "stat_result": _RUN + "object_stats:ObjectStat",
    "LazyXComSequence": _RUN + "xcoms:LazySequence",
    "OutletEventAccessor": _RUN + "asset_events:OutletEvent",
    "OutletEventAccessors": _RUN + "asset_events:OutletEvents",
    "InletEventsAccessors": _RUN + "asset_events:InletEvents",
    "TriggeringAssetEventsAccessor": _RUN + "asset_events:TriggeringEvents",
    **_names(_RUN + "context", "ConnectionAccessor VariableAccessor"),
}

CONSTANTS: dict[str, dict] = {
    "airflow.sdk.io": {"Properties": dict},
    "airflow.sdk.io.typedef": {"Properties": dict},
}

MODULES: dict[str, str] = {
    "airflow.sdk.definitions._internal.contextmanager": "DagContext TaskGroupContext",
    "airflow.sdk.definitions._internal.dag_parsing_context": "get_parsing_context",
    "airflow.sdk.definitions._internal.expandinput": ("DictOfListsExpandInput ListOfDictsExpandInput MappedArgument"),
    "airflow.sdk.definitions._internal.logging_mixin": "LoggingMixin",
    "airflow.sdk.definitions._internal.mixins": "DependencyMixin",
    "airflow.sdk.definitions._internal.node": "DAGNode validate_group_key validate_key",
    "airflow.sdk.definitions.asset": "AssetAccessControl",
    "airflow.sdk.definitions.decorators.condition": "run_if skip_if",
    "airflow.sdk.definitions.operator_resources": (
        "Resource CpuResource RamResource DiskResource GpuResource Resources"
    ),
    "airflow.sdk.execution_time.context": (
        "ConnectionAccessor InletEventsAccessors OutletEventAccessor OutletEventAccessors TriggeringAssetEventsAccessor "
        "VariableAccessor"
    ),
    "airflow.sdk.execution_time.lazy_sequence": "LazyXComSequence",
    "airflow.sdk.io.stat": "stat_result",
    "airflow.sdk.io.typedef": "",
    "airflow.sdk.listener": "ListenerManager get_listener_manager",
    "airflow.sdk.serde": f"={_HERE}serde",
    "airflow.models.dag": "DagContext",
    "airflow.utils.task_group": "TaskGroupContext",
    "airflow.providers.standard.utils.python_virtualenv": "prepare_virtualenv",
    "airflow.providers.standard.version_compat": (
        "AIRFLOW_V_3_0_PLUS AIRFLOW_V_3_1_PLUS AIRFLOW_V_3_2_PLUS AIRFLOW_V_3_3_PLUS ArgNotSet BaseOperator is_arg_set"
    ),
}
