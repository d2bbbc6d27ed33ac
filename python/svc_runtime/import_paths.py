"""Every import path under `airflow.` that is not a file of its own, as one table.

A path maps to names, a name to the module that defines it. Modules are made on import and names are loaded on
first use, so `from airflow.sdk import dag, task` costs only what it needs. Current and older paths stand side by
side; which of them are old, and what is gone for good, is in old_import_paths.py.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from . import old_import_paths, provider_import_paths, refused_modules, sdk_import_paths
from .old_import_paths import GONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_R = "svc_runtime.record."
_RUN = "svc_runtime.run."
_DECORATORS = "svc_runtime.decorators."
_STD = "airflow.providers.standard."


def _names(module: str, names: str) -> dict:
    return dict.fromkeys(names.split(), module)


# Where each name really lives.
HOME: dict[str, str] = {
    **_names(_R + "dag", "DAG dag"),
    **_names(_R + "operator", "BaseOperator BaseAsyncOperator BaseOperatorLink"),
    **_names(_R + "sensor", "BaseSensorOperator PokeReturnValue poke_mode_only"),
    **_names(_R + "mapped", "MappedOperator OperatorPartial"),
    **_names(_R + "xcomarg", "XComArg PlainXComArg MapXComArg ZipXComArg ConcatXComArg XCOM_RETURN_KEY"),
    **_names(_R + "expand", "DictOfListsExpandInput ListOfDictsExpandInput MappedArgument"),
    **_names(_R + "group", "TaskGroup MappedTaskGroup"),
    **_names(_DECORATORS + "task_group", "task_group"),
    **_names(_DECORATORS + "task", "task TaskDecoratorCollection"),
    **_names(_R + "decorated", "DecoratedOperator TaskDecorator task_decorator_factory"),
    **_names(_DECORATORS + "setup_teardown", "setup_task teardown_task"),
    "setup": _DECORATORS + "setup_teardown:setup_task",
    "teardown": _DECORATORS + "setup_teardown:teardown_task",
    **_names(_R + "edges", "Label EdgeModifier chain chain_linear cross_downstream"),
    **_names(_R + "node", "DependencyMixin validate_key"),
    "DAGNode": _R + "node:DependencyMixin",
    **_names(_R + "params", "Param ParamsDict DagParam"),
    **_names(
        _R + "assets",
        "Asset AssetAccessControl AssetAlias AssetAll AssetAny AssetWatcher AssetNameRef AssetUriRef AssetRef BaseAsset Model "
        "Metadata",
    ),
    "result": _DECORATORS + "result",
    "Dataset": _R + "assets:Asset",
    "DatasetAlias": _R + "assets:AssetAlias",
    "DatasetAll": _R + "assets:AssetAll",
    "DatasetAny": _R + "assets:AssetAny",
    **_names(_DECORATORS + "asset", "asset AssetDefinition"),
    "_AssetMainOperator": _DECORATORS + "asset_operator",
    **_names(
        _R + "timetables",
        "Timetable NullTimetable OnceTimetable ContinuousTimetable CronDataIntervalTimetable CronTriggerTimetable "
        "MultipleCronTriggerTimetable CronPartitionTimetable DeltaDataIntervalTimetable DeltaTriggerTimetable "
        "EventsTimetable AssetTriggeredTimetable AssetOrTimeSchedule DatasetOrTimeSchedule PartitionedAssetTimetable "
        "DataInterval DagRunInfo PartitionedAtRuntime TimeRestriction",
    ),
    "DatasetTriggeredTimetable": _R + "timetables:AssetTriggeredTimetable",
    **_names(
        _R + "partition_mappers",
        "PartitionMapper IdentityMapper AllowedKeyMapper StartOfHourMapper StartOfDayMapper StartOfWeekMapper "
        "StartOfMonthMapper StartOfQuarterMapper StartOfYearMapper ChainMapper ProductMapper FixedKeyMapper RollupMapper "
        "FanOutMapper",
    ),
    **_names(
        _R + "partition_windows",
        "Window HourWindow DayWindow WeekWindow MonthWindow QuarterWindow YearWindow SegmentWindow WaitPolicy WaitForAll "
        "MinimumCount",
    ),
    **_names(_R + "retry_policy", "RetryAction RetryDecision RetryPolicy RetryRule ExceptionRetryPolicy"),
    **_names(
        _R + "deadline",
        "BaseDeadlineReference DeadlineAlert DeadlineReference SyncCallback AsyncCallback Callback VariableInterval "
        "deadline_reference",
    ),
    **_names(_R + "weights", "PriorityWeightStrategy"),
    **_names(_R + "notset", "NOTSET ArgNotSet is_arg_set"),
    **_names("svc_runtime.enums", "TriggerRule WeightRule TaskInstanceState DagRunState State DagRunType WeekDay"),
    **_names(_RUN + "secrets", "Variable Connection"),
    **_names(_RUN + "secrets_backend", "BaseSecretsBackend"),
    **_names(_RUN + "providers_manager", "ProvidersManager ProvidersManagerTaskRuntime"),
    **_names(_RUN + "hooks", "BaseHook BaseNotifier LoggingMixin"),
    **_names(
        _RUN + "triggers",
        "BaseTrigger BaseEventTrigger TriggerEvent StartTriggerArgs BaseTaskEndEvent TaskSuccessEvent TaskFailedEvent TaskSkippedEvent",
    ),
    **_names(_RUN + "current", "get_current_context get_parsing_context"),
    **_names(_RUN + "files", "ObjectStoragePath"),
    **_names(_RUN + "object_stores", "ObjectStore attach get_fs has_fs"),
    **_names(_RUN + "conf", "conf"),
    **_names(
        _RUN + "state_stores",
        "NEVER_EXPIRE TaskStateStoreAccessor AssetStateStoreAccessor AssetStateStoreAccessors",
    ),
    **_names(_RUN + "resumable_job", "ResumableJobMixin"),
    **_names(
        _RUN + "helpers",
        "days_ago round_time apply_defaults exactly_one at_most_one prune_dict merge_dicts chunks import_string "
        "get_random_string to_boolean mask_secret amask_secret patch_environ create_session provide_session DagRun TaskInstance DagModel Pool "
        "Context literal LiteralValue AirflowPlugin hookimpl context_merge",
    ),
    "DagBag": "svc_runtime.dag_test.dag_bag",
    **_names(_STD + "operators.branch", "BaseBranchOperator BranchMixIn SkipMixin"),
    **_names(_STD + "operators.bash", "BashOperator"),
    **_names(_STD + "operators.empty", "EmptyOperator"),
    "DummyOperator": _STD + "operators.empty:EmptyOperator",
    **_names(
        _STD + "operators.python",
        "PythonOperator BranchPythonOperator ShortCircuitOperator PythonVirtualenvOperator ExternalPythonOperator "
        "BranchPythonVirtualenvOperator BranchExternalPythonOperator is_venv_installed",
    ),
    **_names(_STD + "operators.latest_only", "LatestOnlyOperator"),
    **_names(_STD + "operators.trigger_dagrun", "TriggerDagRunOperator TriggerDagRunLink"),
    **_names(_STD + "operators.weekday", "BranchDayOfWeekOperator"),
    **_names(_STD + "operators.datetime", "BranchDateTimeOperator"),
    **_names(_STD + "operators.smooth", "SmoothOperator"),
    **_names(_STD + "sensors.python", "PythonSensor"),
    **_names(_STD + "sensors.bash", "BashSensor"),
    **_names(_STD + "sensors.date_time", "DateTimeSensor DateTimeSensorAsync"),
    **_names(_STD + "sensors.time", "TimeSensor TimeSensorAsync"),
    **_names(_STD + "sensors.time_delta", "TimeDeltaSensor TimeDeltaSensorAsync WaitSensor"),
    **_names(_STD + "sensors.weekday", "DayOfWeekSensor"),
    **_names(_STD + "sensors.filesystem", "FileSensor"),
    **_names(_STD + "sensors.external_task", "ExternalTaskSensor ExternalTaskMarker ExternalDagLink"),
    **_names(_STD + "hooks.filesystem", "FSHook"),
    **_names(_STD + "hooks.subprocess", "SubprocessHook SubprocessResult"),
    **_names(_STD + "hooks.package_index", "PackageIndexHook"),
    **_names(_STD + "triggers.temporal", "DateTimeTrigger TimeDeltaTrigger"),
    **_names(_STD + "triggers.file", "FileTrigger FileDeleteTrigger DirectoryFileDeleteTrigger"),
    "AirflowException": "svc_runtime.exceptions",
    "macros": _RUN + "macros:",
    "timezone": _RUN + "timezone:",
    "utcnow": _RUN + "timezone",
    "parse_timezone": _RUN + "timezone",
    "utc": _RUN + "timezone",
    "EmailOperator": "airflow.providers.smtp.operators.smtp",
}

_SDK = (
    "AllowedKeyMapper Asset AssetAccessControl AssetAlias AssetAll AssetAny AssetOrTimeSchedule AssetWatcher AsyncCallback "
    "BaseAsyncOperator BaseBranchOperator BaseDeadlineReference BaseHook BaseNotifier BaseOperator BaseOperatorLink BaseSensorOperator "
    "BaseXCom BranchMixIn ChainMapper Connection Context CronDataIntervalTimetable CronPartitionTimetable "
    "CronTriggerTimetable DAG DagRunState DeadlineAlert DeadlineReference DeltaDataIntervalTimetable "
    "DeltaTriggerTimetable EdgeModifier EventsTimetable ExceptionRetryPolicy IdentityMapper Label Metadata MultipleCronTriggerTimetable "
    "NEVER_EXPIRE ObjectStoragePath Param ParamsDict PartitionMapper PartitionedAssetTimetable PokeReturnValue ProductMapper "
    "ResumableJobMixin RetryAction RetryDecision RetryPolicy RetryRule SkipMixin StartOfDayMapper StartOfHourMapper StartOfMonthMapper StartOfQuarterMapper StartOfWeekMapper "
    "StartOfYearMapper SyncCallback TaskGroup TaskInstance TaskInstanceState TriggerRule Variable WeightRule XComArg "
    "asset chain chain_linear conf cross_downstream dag deadline_reference get_current_context get_parsing_context literal macros setup "
    "result task task_group teardown timezone poke_mode_only DayWindow FanOutMapper FixedKeyMapper HourWindow MinimumCount "
    "MonthWindow PartitionedAtRuntime QuarterWindow RollupMapper SegmentWindow WaitForAll WeekWindow Window YearWindow"
)
_WINDOWS = "Window HourWindow DayWindow WeekWindow MonthWindow QuarterWindow YearWindow SegmentWindow"
_DECORATOR_NAMES = "dag task task_group setup teardown"
_EXCEPTIONS = "svc_runtime.exceptions"

# Paths made of names. `=module` serves a whole module under another path.
MODULES: dict[str, str] = {
    "airflow": "DAG Asset XComArg Dataset AirflowException",
    "airflow.sdk": _SDK,
    "airflow.sdk.bases": "",
    "airflow.sdk.bases.operator": "BaseOperator BaseAsyncOperator chain chain_linear cross_downstream",
    "airflow.sdk.bases.sensor": "BaseSensorOperator PokeReturnValue poke_mode_only",
    "airflow.sdk.bases.hook": "BaseHook",
    "airflow.sdk.bases.notifier": "BaseNotifier",
    "airflow.sdk.bases.operatorlink": "BaseOperatorLink",
    "airflow.sdk.bases.skipmixin": "SkipMixin",
    "airflow.sdk.bases.resumablejobmixin": "ResumableJobMixin",
    "airflow.sdk.bases.secrets_backend": "BaseSecretsBackend",
    "airflow.sdk.bases.branch": "BaseBranchOperator BranchMixIn",
    "airflow.sdk.bases.xcom": "BaseXCom",
    "airflow.sdk.bases.decorator": "DecoratedOperator TaskDecorator task_decorator_factory",
    "airflow.sdk.bases.timetable": "Timetable",
    "airflow.sdk.definitions": "",
    "airflow.sdk.definitions.asset": "Asset AssetAlias AssetAll AssetAny AssetWatcher AssetNameRef AssetUriRef AssetRef BaseAsset Dataset Model",
    "airflow.sdk.definitions.asset.access_control": "AssetAccessControl",
    "airflow.sdk.definitions.asset.decorators": "asset AssetDefinition _AssetMainOperator",
    "airflow.sdk.definitions.asset.metadata": "Metadata",
    "airflow.sdk.definitions.dag": "DAG dag",
    "airflow.sdk.definitions.taskgroup": "TaskGroup MappedTaskGroup",
    "airflow.sdk.definitions.decorators": f"{_DECORATOR_NAMES} result",
    "airflow.sdk.definitions.decorators.setup_teardown": "setup_task teardown_task",
    "airflow.sdk.definitions.decorators.task_group": "task_group",
    "airflow.sdk.definitions.param": "Param ParamsDict DagParam",
    "airflow.sdk.definitions.context": "Context get_current_context get_parsing_context",
    "airflow.sdk.definitions.connection": "Connection",
    "airflow.sdk.definitions.variable": "Variable",
    "airflow.sdk.definitions.xcom_arg": "XComArg PlainXComArg MapXComArg ZipXComArg ConcatXComArg",
    "airflow.sdk.definitions.edges": "EdgeModifier Label",
    "airflow.sdk.definitions.deadline": "BaseDeadlineReference DeadlineAlert DeadlineReference SyncCallback AsyncCallback VariableInterval deadline_reference",
    "airflow.sdk.definitions.retry_policy": "RetryAction RetryDecision RetryPolicy RetryRule ExceptionRetryPolicy",
    "airflow.sdk.definitions.callback": "SyncCallback AsyncCallback Callback",
    "airflow.sdk.definitions.mappedoperator": "MappedOperator OperatorPartial",
    "airflow.sdk.definitions.template": "literal LiteralValue",
    "airflow.sdk.definitions.timetables": "",
    "airflow.sdk.definitions.timetables.assets": "AssetOrTimeSchedule AssetTriggeredTimetable PartitionedAssetTimetable PartitionedAtRuntime",
    "airflow.sdk.definitions.timetables.events": "EventsTimetable",
    "airflow.sdk.definitions.timetables.interval": "CronDataIntervalTimetable DeltaDataIntervalTimetable",
    "airflow.sdk.definitions.timetables.simple": "NullTimetable OnceTimetable ContinuousTimetable",
    "airflow.sdk.definitions.timetables.trigger": "CronTriggerTimetable DeltaTriggerTimetable MultipleCronTriggerTimetable CronPartitionTimetable",
    "airflow.sdk.exceptions": f"={_EXCEPTIONS}",
    "airflow.sdk.timezone": f"={_RUN}timezone",
    "airflow.sdk.io": "ObjectStoragePath ObjectStore attach get_fs has_fs",
    "airflow.sdk.io.fs": "get_fs has_fs",
    "airflow.sdk.io.path": "ObjectStoragePath",
    "airflow.sdk.io.store": "ObjectStore attach",
    "airflow.sdk.log": "mask_secret amask_secret",
    "airflow.sdk.configuration": "conf",
    "airflow.sdk.types": "",
    "airflow.sdk.execution_time": "",
    "airflow.sdk.execution_time.macros": f"={_RUN}macros",
    "airflow.sdk.execution_time.context": "NEVER_EXPIRE TaskStateStoreAccessor AssetStateStoreAccessor AssetStateStoreAccessors",
    "airflow.sdk.execution_time.secrets_masker": "mask_secret",
    "airflow.sdk.providers_manager_runtime": "ProvidersManagerTaskRuntime",
    "airflow.sdk.definitions._internal": "",
    "airflow.sdk.definitions._internal.types": "NOTSET ArgNotSet is_arg_set",
    "airflow.sdk.api": "",
    "airflow.sdk.yaml": "",
    "airflow.decorators": _DECORATOR_NAMES,
    "airflow.decorators.base": "DecoratedOperator TaskDecorator task_decorator_factory",
    "airflow.decorators.task_group": "task_group",
    "airflow.models": "DAG BaseOperator BaseOperatorLink BaseXCom Connection DagBag DagModel DagRun MappedOperator Param Pool SkipMixin TaskInstance Variable XCom XComArg",
    "airflow.models.dag": "DAG dag DagModel",
    "airflow.models.baseoperator": "BaseOperator BaseOperatorLink chain chain_linear cross_downstream",
    "airflow.models.baseoperatorlink": "BaseOperatorLink",
    "airflow.models.mappedoperator": "MappedOperator",
    "airflow.models.operator": "BaseOperator",
    "airflow.models.param": "Param ParamsDict DagParam",
    "airflow.models.variable": "Variable",
    "airflow.models.connection": "Connection",
    "airflow.models.xcom": "XCom BaseXCom XCOM_RETURN_KEY",
    "airflow.models.xcom_arg": "XComArg",
    "airflow.models.taskinstance": "TaskInstance get_current_context",
    "airflow.models.dagrun": "DagRun",
    "airflow.models.dagbag": "DagBag",
    "airflow.models.pool": "Pool",
    "airflow.models.skipmixin": "SkipMixin",
    "airflow.models.expandinput": "DictOfListsExpandInput ListOfDictsExpandInput",
    "airflow.models.asset": "",
    "airflow.models.taskmixin": "DependencyMixin DAGNode",
    "airflow.operators": "",
    "airflow.operators.bash": f"={_STD}operators.bash",
    "airflow.operators.bash_operator": f"={_STD}operators.bash",
    "airflow.operators.python": "PythonOperator BranchPythonOperator ShortCircuitOperator PythonVirtualenvOperator ExternalPythonOperator BranchPythonVirtualenvOperator BranchExternalPythonOperator get_current_context is_venv_installed",
    "airflow.operators.python_operator": "PythonOperator BranchPythonOperator ShortCircuitOperator PythonVirtualenvOperator",
    "airflow.operators.empty": "EmptyOperator",
    "airflow.operators.dummy": "DummyOperator EmptyOperator",
    "airflow.operators.dummy_operator": "DummyOperator EmptyOperator",
    "airflow.operators.branch": "BaseBranchOperator BranchMixIn",
    "airflow.operators.branch_operator": "BaseBranchOperator BranchMixIn",
    "airflow.operators.datetime": f"={_STD}operators.datetime",
    "airflow.operators.email": "EmailOperator",
    "airflow.operators.latest_only": f"={_STD}operators.latest_only",
    "airflow.operators.smooth": "SmoothOperator",
    "airflow.operators.trigger_dagrun": f"={_STD}operators.trigger_dagrun",
    "airflow.operators.dagrun_operator": f"={_STD}operators.trigger_dagrun",
    "airflow.operators.weekday": "BranchDayOfWeekOperator",
    "airflow.operators.generic_transfer": "=airflow.providers.common.sql.operators.generic_transfer",
    "airflow.sensors": "",
    "airflow.sensors.base": "BaseSensorOperator PokeReturnValue poke_mode_only",
    "airflow.sensors.base_sensor_operator": "BaseSensorOperator",
    "airflow.sensors.python": "PythonSensor PokeReturnValue",
    "airflow.sensors.bash": "BashSensor",
    "airflow.sensors.date_time": "DateTimeSensor DateTimeSensorAsync",
    "airflow.sensors.date_time_sensor": "DateTimeSensor",
    "airflow.sensors.time_sensor": "TimeSensor TimeSensorAsync",
    "airflow.sensors.time_delta": "TimeDeltaSensor TimeDeltaSensorAsync WaitSensor",
    "airflow.sensors.time_delta_sensor": "TimeDeltaSensor",
    "airflow.sensors.weekday": "DayOfWeekSensor",
    "airflow.sensors.external_task": f"={_STD}sensors.external_task",
    "airflow.sensors.external_task_sensor": f"={_STD}sensors.external_task",
    "airflow.sensors.filesystem": "FileSensor",
    "airflow.hooks": "",
    "airflow.hooks.base": "BaseHook",
    "airflow.hooks.base_hook": "BaseHook",
    "airflow.hooks.filesystem": "FSHook",
    "airflow.hooks.package_index": "PackageIndexHook",
    "airflow.hooks.subprocess": "SubprocessHook SubprocessResult",
    "airflow.triggers": "",
    "airflow.triggers.base": "BaseTrigger BaseEventTrigger TriggerEvent StartTriggerArgs BaseTaskEndEvent TaskSuccessEvent TaskFailedEvent TaskSkippedEvent",
    "airflow.triggers.temporal": "DateTimeTrigger TimeDeltaTrigger",
    "airflow.triggers.file": "FileTrigger FileDeleteTrigger",
    "airflow.triggers.external_task": f"={_STD}triggers.external_task",
    "airflow.notifications": "",
    "airflow.notifications.basenotifier": "BaseNotifier",
    "airflow.partition_mappers": "",
    "airflow.partition_mappers.base": "PartitionMapper RollupMapper",
    "airflow.partition_mappers.fixed_key": "FixedKeyMapper",
    "airflow.partition_mappers.wait_policy": "WaitPolicy WaitForAll MinimumCount",
    "airflow.partition_mappers.window": _WINDOWS,
    "airflow.partition_mappers.identity": "IdentityMapper",
    "airflow.partition_mappers.allowed_key": "AllowedKeyMapper",
    "airflow.partition_mappers.chain": "ChainMapper",
    "airflow.partition_mappers.product": "ProductMapper",
    "airflow.partition_mappers.temporal": "FanOutMapper StartOfHourMapper StartOfDayMapper StartOfWeekMapper StartOfMonthMapper StartOfQuarterMapper StartOfYearMapper",
    "airflow.sdk.definitions.partition_mappers": "",
    "airflow.sdk.definitions.partition_mappers.base": "PartitionMapper RollupMapper",
    "airflow.sdk.definitions.partition_mappers.fixed_key": "FixedKeyMapper",
    "airflow.sdk.definitions.partition_mappers.wait_policy": "WaitPolicy WaitForAll MinimumCount",
    "airflow.sdk.definitions.partition_mappers.window": _WINDOWS,
    "airflow.sdk.definitions.partition_mappers.identity": "IdentityMapper",
    "airflow.sdk.definitions.partition_mappers.allowed_key": "AllowedKeyMapper",
    "airflow.sdk.definitions.partition_mappers.chain": "ChainMapper",
    "airflow.sdk.definitions.partition_mappers.product": "ProductMapper",
    "airflow.sdk.definitions.partition_mappers.temporal": "FanOutMapper StartOfHourMapper StartOfDayMapper StartOfWeekMapper StartOfMonthMapper StartOfQuarterMapper StartOfYearMapper",
    "airflow.timetables": "",
    "airflow.timetables.base": "Timetable DataInterval DagRunInfo TimeRestriction",
    "airflow.timetables.simple": "NullTimetable OnceTimetable ContinuousTimetable AssetTriggeredTimetable DatasetTriggeredTimetable PartitionedAssetTimetable",
    "airflow.timetables.trigger": "CronTriggerTimetable DeltaTriggerTimetable MultipleCronTriggerTimetable CronPartitionTimetable",
    "airflow.timetables.interval": "CronDataIntervalTimetable DeltaDataIntervalTimetable",
    "airflow.timetables.events": "EventsTimetable",
    "airflow.timetables.assets": "AssetOrTimeSchedule",
    "airflow.timetables.datasets": "DatasetOrTimeSchedule",
    "airflow.datasets": "Dataset DatasetAlias DatasetAll DatasetAny",
    "airflow.datasets.metadata": "Metadata",
    "airflow.assets": "Asset AssetAlias AssetAll AssetAny",
    "airflow.assets.metadata": "Metadata",
    "airflow.lineage": "",
    "airflow.macros": f"={_RUN}macros",
    "airflow.exceptions": f"={_EXCEPTIONS}",
    "airflow.configuration": "conf",
    "airflow.settings": "",
    "airflow.io": "ObjectStoragePath get_fs has_fs",
    "airflow.io.path": "ObjectStoragePath",
    "airflow.io.storage": "ObjectStore attach",
    "airflow.io.store": "ObjectStore attach",
    "airflow.plugins_manager": "AirflowPlugin",
    "airflow.listeners": "hookimpl",
    "airflow.policies": "hookimpl",
    "airflow.task": "",
    "airflow.task.priority_strategy": "PriorityWeightStrategy",
    "airflow.task.trigger_rule": "TriggerRule",
    "airflow.task.weight_rule": "WeightRule",
    "airflow.dag_processing": "",
    "airflow.dag_processing.dagbag": "DagBag",
    "airflow.version": "",
    "airflow.typing_compat": "",
    "airflow.providers_manager": "ProvidersManager",
    "airflow.secrets": "BaseSecretsBackend",
    "airflow.secrets.base_secrets": "BaseSecretsBackend",
    "airflow.security": "",
    "airflow.security.permissions": "",
    "airflow.utils": "",
    "airflow.utils.dates": "days_ago round_time",
    "airflow.utils.timezone": f"={_RUN}timezone",
    "airflow.utils.task_group": "TaskGroup MappedTaskGroup",
    "airflow.utils.trigger_rule": "TriggerRule",
    "airflow.utils.weight_rule": "WeightRule",
    "airflow.utils.edgemodifier": "Label EdgeModifier",
    "airflow.utils.helpers": "chain cross_downstream exactly_one at_most_one prune_dict merge_dicts chunks",
    "airflow.utils.state": "State TaskInstanceState DagRunState",
    "airflow.utils.types": "DagRunType NOTSET ArgNotSet",
    "airflow.utils.context": "Context context_merge",
    "airflow.utils.decorators": "apply_defaults",
    "airflow.utils.email": "send_email",
    "airflow.utils.session": "create_session provide_session",
    "airflow.utils.db": "create_session provide_session",
    "airflow.utils.log": "",
    "airflow.utils.log.logging_mixin": "LoggingMixin",
    "airflow.utils.log.secrets_masker": "mask_secret",
    "airflow.utils.weekday": "WeekDay",
    "airflow.utils.module_loading": "import_string",
    "airflow.utils.dag_parsing_context": "get_parsing_context",
    "airflow.utils.process_utils": "patch_environ",
    "airflow.utils.strings": "get_random_string to_boolean",
    "airflow.utils.setup_teardown": "",
    "airflow.utils.template": "literal LiteralValue",
    "airflow.utils.xcom": "XCOM_RETURN_KEY",
    "airflow.providers.standard.utils.weekday": "WeekDay",
    "airflow.providers.standard.utils.skipmixin": "SkipMixin",
    "airflow.providers.standard.exceptions": f"={_EXCEPTIONS}",
    "airflow.providers.common.compat": "",
    "airflow.providers.common.compat.sdk": _SDK,
    "airflow.providers.common.compat.assets": "Asset AssetAlias AssetAll AssetAny",
}

# Plain values some modules carry.
CONSTANTS: dict[str, dict] = {
    "airflow.sdk": {"__version__": "1.2.2"},
    "airflow.version": {"version": "3.2.2"},
    "airflow.models": {"ID_LEN": 250},
}


def _add_other_rows() -> None:
    HOME.update({**provider_import_paths.HOME, **sdk_import_paths.HOME, **HOME})
    for path, names in (*provider_import_paths.MODULES.items(), *sdk_import_paths.MODULES.items()):
        known = MODULES.get(path, "")
        MODULES[path] = names if names.startswith("=") else " ".join(dict.fromkeys(f"{known} {names}".split()))
    CONSTANTS.update(sdk_import_paths.CONSTANTS)
    CONSTANTS.update(
        {path: {**CONSTANTS.get(path, {}), **values} for path, values in provider_import_paths.CONSTANTS.items()}
    )
    GONE.update(provider_import_paths.NOT_SERVED)
    GONE.update(refused_modules.REFUSED)


_add_other_rows()


def attribute(path: str, name: str):
    """The object behind `path.name`, loaded now."""
    entry = MODULES.get(path, "")
    constants = CONSTANTS.get(path, {})
    if name in constants:
        return constants[name]
    if entry.startswith("="):
        return getattr(importlib.import_module(entry[1:]), name)
    if name in entry.split():
        home = HOME[name]
        module, colon, other = home.partition(":")
        loaded = importlib.import_module(module)
        return loaded if colon and not other else getattr(loaded, other or name)
    try:
        return old_import_paths.load_moved(path, name)
    except AttributeError:
        # `import airflow` and then `airflow.utils.dates`: on Airflow, other imports have loaded the module.
        submodule = f"{path}.{name}"
        if _Finder.find_spec(submodule) is None and old_import_paths.serves(submodule) is None:
            raise
        return importlib.import_module(submodule)


class _Path(ModuleType):
    __all__: list[str]

    def __getattr__(self, name: str):
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)
        value = attribute(self.__name__, name)
        self.__dict__[name] = value
        return value

    def __dir__(self):
        return sorted({*self.__dict__, *MODULES.get(self.__name__, "").replace("=", "").split()})


# Served by ours where no provider package brings them.
_STAND_INS = "airflow.providers.common"


def is_installed(fullname: str, path) -> bool:
    """Whether a provider package of this environment has the module. `path`: that of its parent."""
    from importlib.machinery import PathFinder

    return PathFinder.find_spec(fullname, path) is not None


def prefer_installed_providers() -> None:
    """Always so by now; kept for those who say it."""


_HTTP_HOOK = "airflow.providers.http.hooks.http"


def _with_user_agent(fullname: str, path):
    """The provider's own module, which names the operator's User-Agent from then on."""
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec(fullname, path)
    loader: Any = spec.loader if spec is not None else None
    if loader is None:
        return spec
    load = loader.exec_module

    def exec_module(module) -> None:
        load(module)
        importlib.import_module(_RUN + "http_user_agent").use_in(module)

    loader.exec_module = exec_module
    return spec


class _Finder:
    @staticmethod
    def find_spec(fullname: str, path=None, target=None):
        if not fullname.startswith("airflow."):
            return None
        if fullname == _HTTP_HOOK:
            return _with_user_agent(fullname, path)
        if fullname.startswith(_STAND_INS):
            if is_installed(fullname, path):
                return None
            if fullname == _STAND_INS:
                return ModuleSpec(fullname, _loader, is_package=True)
        for gone, advice in GONE.items():
            if fullname == gone or fullname.startswith(gone + "."):
                raise ModuleNotFoundError(f"No module named '{fullname}': {advice}", name=fullname)
        return ModuleSpec(fullname, _loader, is_package=True) if fullname in MODULES else None

    @staticmethod
    def create_module(spec):
        module = _Path(spec.name)
        entry = MODULES.get(spec.name, "")
        if not entry.startswith("="):
            module.__all__ = [*entry.split(), *CONSTANTS.get(spec.name, {})]
        return module

    @staticmethod
    def exec_module(module) -> None:
        """Nothing to run; names load on demand."""


_loader: Any = _Finder  # a loader by shape; importlib.abc would have to be loaded for its name


def install() -> None:
    if not any(finder is _Finder for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder)
    old_import_paths.install(MODULES)
