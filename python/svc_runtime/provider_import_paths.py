"""Rows of the table in import_paths.py for the paths that provider packages import beyond those of DAG files.

Same form: a name and the module that defines it, a path and its names. What belongs to Airflow's own processes (executors,
auth managers, its command line, its log files) is in NOT_SERVED with the reason: those modules of providers have no use here.
"""

from __future__ import annotations

_HERE = "svc_runtime.for_providers."
_R = "svc_runtime.record."
_RUN = "svc_runtime.run."


def _names(module: str, names: str) -> dict:
    return dict.fromkeys(names.split(), module)


HOME: dict[str, str] = {
    **_names(
        _HERE + "calling",
        "DecoratedMappedOperator KeywordParameters as_flattened_list determine_kwargs get_unique_task_id "
        "is_async_callable is_container make_kwargs_callable timeout TimeoutPosix unwrap_callable",
    ),
    **_names(
        _RUN + "lineage",
        "AssetLineageInfo ExtraLineageInfo HookLineage HookLineageCollector HookLineageReader NoOpCollector "
        "get_hook_lineage_collector MAX_COLLECTED_ASSETS MAX_COLLECTED_EXTRA",
    ),
    "DatasetLineageInfo": _RUN + "lineage:AssetLineageInfo",
    **_names(
        _HERE + "masking",
        "DEFAULT_SENSITIVE_FIELDS Redactable Redacted SecretsMasker _secrets_masker merge redact "
        "reset_secrets_masker should_hide_value_for_key",
    ),
    **_names(
        _HERE + "module_loading",
        "DeprecatedImportWarning add_deprecated_classes getattr_with_deprecation is_valid_dotpath iter_namespace qualname",
    ),
    **_names(_HERE + "stats", "DualStatsManager Stats normalize_name_for_stats incr decr gauge timing timer"),
    **_names(_HERE + "mail", "build_mime_message get_email_address_list send_email send_email_smtp send_mime_email"),
    **_names(_HERE + "instance_values", "BaseXCom XCom"),
    **_names(_HERE + "json_values", "AirflowJsonEncoder WebEncoder XComDecoder XComEncoder"),
    **_names(
        _HERE + "small_parts",
        "AIRFLOW_HOME AIRFLOW_VAR_NAME_FORMAT_MAPPING ANSI_ESCAPE AccessView AirflowContextDeprecationWarning "
        "AssetAliasDetails AssetDetails AssetEvent AssetModel DAGS_FOLDER IS_WINDOWS JobState PLUGINS_FOLDER "
        "RenderedTaskInstanceFields SET_DURING_EXECUTION SerializedBaseOperator SerializedDAG SerializedDagModel "
        "SerializedMappedOperator SetDuringExecution TIMEZONE TaskReschedule build_airflow_dagrun_url "
        "build_airflow_url_with_query clear_task_instances configure_orm context_get_outlet_events context_to_airflow_vars convert_camel_to_snake "
        "execute_in_subprocess expand_alias_to_assets get_docs_url get_hostname getuser is_tty md5 partition "
        "pod_mutation_hook remove_escape_codes",
    ),
    **_names(_HERE + "compat", "get_async_connection get_async_extra_dejson get_async_hook require_provider_version"),
    **_names(_HERE + "templater", "Templater"),
    "_get_normalized_scheme": _R + "assets:normalised_scheme",
    "DagRunTriggeredByType": "svc_runtime.enums",
    "RuntimeTaskInstance": _RUN + "instance:RunningTaskInstance",
    "TaskInstanceKey": _RUN + "instance_key",
    **_names(_RUN + "providers_manager", "HookInfo ProviderInfo"),
    "AIRFLOW_V_3_0_PLUS": _HERE + "compat",
    "AIRFLOW_V_3_1_PLUS": _HERE + "compat",
    "AIRFLOW_V_3_2_PLUS": _HERE + "compat",
    "AIRFLOW_V_3_3_PLUS": _HERE + "compat",
    "AIRFLOW_V_3_4_PLUS": _HERE + "compat",
}

_MASKER = (
    "DEFAULT_SENSITIVE_FIELDS Redactable Redacted SecretsMasker _secrets_masker mask_secret merge redact "
    "reset_secrets_masker should_hide_value_for_key"
)
_LINEAGE = (
    "AssetLineageInfo ExtraLineageInfo HookLineage HookLineageCollector HookLineageReader NoOpCollector "
    "get_hook_lineage_collector MAX_COLLECTED_ASSETS MAX_COLLECTED_EXTRA"
)
_LOADING = "import_string is_valid_dotpath iter_namespace qualname"
_STATS = "DualStatsManager Stats normalize_name_for_stats"
_DECORATOR = (
    "DecoratedMappedOperator KeywordParameters determine_kwargs get_unique_task_id is_async_callable unwrap_callable"
)
_COMPAT = "airflow.providers.common.compat"
_EXCEPTION_NAMES = (
    "AirflowConfigException AirflowException AirflowFailException AirflowNotFoundException "
    "AirflowOptionalProviderFeatureException AirflowSensorTimeout AirflowSkipException AirflowTaskTimeout "
    "DagRunTriggerException DownstreamTasksSkipped ParamValidationError TaskDeferred XComNotFound"
)
HOME.update(_names("svc_runtime.exceptions", _EXCEPTION_NAMES))

# Added to the names that a path has already.
MODULES: dict[str, str] = {
    "airflow.sdk.bases.decorator": _DECORATOR,
    "airflow.sdk.bases.xcom": "XCom",
    "airflow.sdk.bases.hook": "LoggingMixin",
    "airflow.sdk.definitions._internal.types": "SET_DURING_EXECUTION SetDuringExecution",
    "airflow.sdk.definitions._internal.templater": "Templater LiteralValue",
    "airflow.sdk.definitions._internal.abstractoperator": "BaseOperator",
    "airflow.sdk.definitions.asset": "_get_normalized_scheme",
    "airflow.sdk.definitions.context": "context_merge",
    "airflow.sdk.execution_time.context": (
        "AIRFLOW_VAR_NAME_FORMAT_MAPPING context_get_outlet_events context_to_airflow_vars"
    ),
    "airflow.sdk.execution_time.secrets_masker": _MASKER,
    "airflow.sdk.execution_time.task_runner": "RuntimeTaskInstance",
    "airflow.sdk.execution_time.timeout": "timeout TimeoutPosix",
    "airflow.sdk.execution_time.xcom": "XCom",
    "airflow.sdk.lineage": _LINEAGE,
    "airflow.sdk.log": "redact mask_secret amask_secret",
    "airflow.sdk.module_loading": _LOADING,
    "airflow.sdk.observability": "",
    "airflow.sdk.observability.stats": f"{_STATS} incr decr gauge timing timer",
    "airflow.sdk.plugins_manager": "AirflowPlugin",
    "airflow.sdk.types": "TaskInstanceKey TaskInstance",
    "airflow.sdk._shared": "",
    "airflow.sdk._shared.module_loading": _LOADING,
    "airflow.sdk._shared.secrets_masker": _MASKER,
    "airflow.sdk.yaml": f"={_HERE}yaml",
    "airflow.api_fastapi": "",
    "airflow.api_fastapi.auth": "",
    "airflow.api_fastapi.auth.managers": "",
    "airflow.api_fastapi.auth.managers.models": "",
    "airflow.api_fastapi.auth.managers.models.resource_details": "AccessView AssetAliasDetails AssetDetails",
    "airflow.decorators.base": _DECORATOR,
    "airflow.lineage": "",
    "airflow.lineage.hook": f"{_LINEAGE} DatasetLineageInfo",
    "airflow.models": "RenderedTaskInstanceFields TaskReschedule TaskInstanceKey",
    "airflow.models.asset": "AssetEvent AssetModel expand_alias_to_assets",
    "airflow.models.dagrun": "DagRunType",
    "airflow.models.renderedtifields": "RenderedTaskInstanceFields",
    "airflow.models.serialized_dag": "SerializedDagModel",
    "airflow.models.taskinstance": "TaskInstanceKey clear_task_instances",
    "airflow.models.taskinstancekey": "TaskInstanceKey",
    "airflow.models.taskreschedule": "TaskReschedule",
    "airflow.observability": "",
    "airflow.observability.stats": _STATS,
    "airflow.providers_manager": "HookInfo ProviderInfo",
    "airflow.serialization": "",
    "airflow.serialization.definitions": "",
    "airflow.serialization.definitions.mappedoperator": "SerializedMappedOperator",
    "airflow.serialization.serialized_objects": "SerializedBaseOperator SerializedDAG",
    "airflow.settings": "AIRFLOW_HOME DAGS_FOLDER PLUGINS_FOLDER TIMEZONE configure_orm pod_mutation_hook",
    "airflow.stats": _STATS,
    "airflow.typing_compat": f"={_HERE}typing_names",
    "airflow.utils.context": "AirflowContextDeprecationWarning context_get_outlet_events",
    "airflow.utils.deprecation_tools": "DeprecatedImportWarning add_deprecated_classes getattr_with_deprecation",
    "airflow.utils.docs": "get_docs_url",
    "airflow.utils.email": "build_mime_message get_email_address_list send_email_smtp send_mime_email",
    "airflow.utils.hashlib_wrapper": "md5",
    "airflow.utils.helpers": (
        "as_flattened_list build_airflow_dagrun_url build_airflow_url_with_query convert_camel_to_snake is_container "
        "partition validate_key"
    ),
    "airflow.utils.json": "AirflowJsonEncoder WebEncoder XComDecoder XComEncoder",
    "airflow.utils.log.logging_mixin": "ANSI_ESCAPE remove_escape_codes",
    "airflow.utils.log.secrets_masker": _MASKER,
    "airflow.utils.module_loading": _LOADING,
    "airflow.utils.net": "get_hostname",
    "airflow.utils.operator_helpers": (
        "AIRFLOW_VAR_NAME_FORMAT_MAPPING KeywordParameters context_to_airflow_vars determine_kwargs make_kwargs_callable"
    ),
    "airflow.utils.platform": "IS_WINDOWS getuser is_tty",
    "airflow.utils.process_utils": "execute_in_subprocess",
    "airflow.utils.state": "JobState",
    "airflow.utils.timeout": "timeout TimeoutPosix",
    "airflow.utils.types": "DagRunTriggeredByType",
    "airflow.utils.yaml": f"={_HERE}yaml",
    # common.compat itself, where its package is not installed.
    f"{_COMPAT}.sdk": (
        f"{_LINEAGE} {_DECORATOR} {_EXCEPTION_NAMES} AIRFLOW_VAR_NAME_FORMAT_MAPPING AirflowPlugin DecoratedOperator "
        "MappedOperator SET_DURING_EXECUTION Stats TaskDecorator TaskInstanceKey XCOM_RETURN_KEY XCom context_merge "
        "context_to_airflow_vars hookimpl mask_secret redact task_decorator_factory timeout"
    ),
    f"{_COMPAT}.assets": "AssetAliasDetails AssetDetails expand_alias_to_assets",
    f"{_COMPAT}.check": "require_provider_version",
    f"{_COMPAT}.connection": "get_async_connection get_async_extra_dejson",
    f"{_COMPAT}.hook": "get_async_hook",
    f"{_COMPAT}.lineage": "",
    f"{_COMPAT}.lineage.hook": "get_hook_lineage_collector",
    f"{_COMPAT}.module_loading": _LOADING,
    f"{_COMPAT}.notifier": "BaseNotifier",
    f"{_COMPAT}.standard": "",
    f"{_COMPAT}.standard.operators": (
        "BaseAsyncOperator BaseOperator PythonOperator ShortCircuitOperator get_current_context is_async_callable"
    ),
    f"{_COMPAT}.standard.triggers": "TimeDeltaTrigger",
    f"{_COMPAT}.standard.utils": "SkipMixin",
    f"{_COMPAT}.triggers": "BaseEventTrigger",
    f"{_COMPAT}.version_compat": (
        "AIRFLOW_V_3_0_PLUS AIRFLOW_V_3_1_PLUS AIRFLOW_V_3_2_PLUS AIRFLOW_V_3_3_PLUS AIRFLOW_V_3_4_PLUS"
    ),
}

_ACTIONS = "CREATE READ EDIT DELETE ACCESS_MENU"
_RESOURCES = {"ASSET": "Assets", "ASSET_ALIAS": "Asset Aliases", "BACKFILL": "Backfills", "DAG": "DAGs"}
_MORE_RESOURCES = {"DAG_VERSION": "DAG Versions", "DAG_RUN": "DAG Runs", "DAG_PREFIX": "DAG:"}

CONSTANTS: dict[str, dict] = {
    "airflow.utils.session": {"NEW_SESSION": None},
    "airflow.security.permissions": {
        **{
            f"ACTION_CAN_{name}": "menu_access" if name == "ACCESS_MENU" else f"can_{name.lower()}"
            for name in _ACTIONS.split()
        },
        **{f"RESOURCE_{name}": text for name, text in {**_RESOURCES, **_MORE_RESOURCES}.items()},
    },
}

_PROCESSES = "belongs to processes of Airflow that are not part of svc"
NOT_SERVED: dict[str, str] = {
    "airflow.executors": f"an executor {_PROCESSES}; choose one by executor.type",
    "airflow.api_fastapi.app": f"an auth manager {_PROCESSES}; see the auth settings",
    "airflow.api_fastapi.auth.managers.base_auth_manager": f"an auth manager {_PROCESSES}; see the auth settings",
    "airflow.api_fastapi.common": f"an auth manager {_PROCESSES}; see the auth settings",
    "airflow.api_fastapi.core_api": f"an auth manager {_PROCESSES}; see the auth settings",
    "airflow.cli": f"Airflow's command line {_PROCESSES}; use svc",
    "airflow.dag_processing.bundles": f"a DAG bundle {_PROCESSES}; deploy DAGs with svc deploy",
    "airflow.utils.cli": f"Airflow's command line {_PROCESSES}; use svc",
    "airflow.utils.log.file_task_handler": f"a log handler {_PROCESSES}; see logs.store in the configuration",
    "airflow.utils.log.trigger_handler": f"a log handler {_PROCESSES}; see logs.store in the configuration",
}
