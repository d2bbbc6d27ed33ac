"""Differences between public names of Airflow and ours, each with its reason. test_public_names.py finds them."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from airflow import sdk
from svc_runtime.run.instance import RunningTaskInstance

_DAY = datetime.timedelta(days=1)


def _group() -> object:
    with sdk.DAG("sample", schedule=None), sdk.TaskGroup("group") as group:
        sdk.BaseOperator(task_id="task")
    return group


# Instances, for attributes that are set when one is made.
SAMPLES: dict[str, Callable[[], object]] = {
    "Asset": lambda: sdk.Asset("a"),
    "AssetAccessControl": sdk.AssetAccessControl,
    "AssetAlias": lambda: sdk.AssetAlias("a"),
    "AssetOrTimeSchedule": lambda: sdk.AssetOrTimeSchedule(
        timetable=sdk.CronTriggerTimetable("@daily", timezone="UTC"), assets=[sdk.Asset("a")]
    ),
    "AssetWatcher": lambda: sdk.AssetWatcher("w", trigger=None),
    "BaseOperator": lambda: sdk.BaseOperator(task_id="a"),
    "CronDataIntervalTimetable": lambda: sdk.CronDataIntervalTimetable("@daily", "UTC"),
    "CronTriggerTimetable": lambda: sdk.CronTriggerTimetable("@daily", timezone="UTC"),
    "CronPartitionTimetable": lambda: sdk.CronPartitionTimetable("@daily", timezone="UTC"),
    "DeltaDataIntervalTimetable": lambda: sdk.DeltaDataIntervalTimetable(_DAY),
    "DeltaTriggerTimetable": lambda: sdk.DeltaTriggerTimetable(_DAY),
    "EventsTimetable": lambda: sdk.EventsTimetable(
        event_dates=[datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)]
    ),
    "ChainMapper": lambda: sdk.ChainMapper(sdk.IdentityMapper(), sdk.IdentityMapper()),
    "FanOutMapper": lambda: sdk.FanOutMapper(upstream_mapper=sdk.StartOfDayMapper(), window=sdk.DayWindow()),
    "FixedKeyMapper": lambda: sdk.FixedKeyMapper("a"),
    "MinimumCount": lambda: sdk.MinimumCount(1),
    "ProductMapper": lambda: sdk.ProductMapper(sdk.IdentityMapper(), sdk.IdentityMapper()),
    "RollupMapper": lambda: sdk.RollupMapper(upstream_mapper=sdk.StartOfDayMapper(), window=sdk.DayWindow()),
    "StartOfDayMapper": sdk.StartOfDayMapper,
    "Metadata": lambda: sdk.Metadata(sdk.Asset("a")),
    "MultipleCronTriggerTimetable": lambda: sdk.MultipleCronTriggerTimetable("@daily", timezone="UTC"),
    "ObjectStoragePath": lambda: sdk.ObjectStoragePath("file:///tmp"),
    "ParamsDict": sdk.ParamsDict,
    "PartitionedAssetTimetable": lambda: sdk.PartitionedAssetTimetable(assets=sdk.Asset("a")),
    "TaskGroup": _group,
    "TaskInstance": lambda: RunningTaskInstance,  # here, the public name is only a type for annotations
    "Variable": lambda: sdk.Variable(key="k", value="v"),
}

# By reason: names, or `class: names of its members`.
_REASONS: dict[str, tuple[str, ...]] = {
    "Airflow uses it to store or load a DAG. Here the compiler writes its own form, which is a published schema.": (
        "airflow.sdk.AsyncCallback: deserialize serialize serialized_fields",
        "airflow.sdk.BaseOperator: HIDE_ATTRS_FROM_UI get_serialized_fields serialize_for_task_group",
        "airflow.sdk.DAG: get_serialized_fields",
        "airflow.sdk.Param: CLASS_IDENTIFIER deserialize serialize",
        "airflow.sdk.ParamsDict: deserialize serialize",
        "airflow.sdk.SyncCallback: deserialize serialize serialized_fields",
        "airflow.sdk.TaskGroup: serialize_for_task_group",
        "airflow.providers.standard.exceptions.AirflowExternalTaskSensorException: serialize",
        "airflow.providers.standard.exceptions.HITLRejectException: serialize",
        "airflow.providers.standard.operators.trigger_dagrun.DagIsPaused: serialize",
    ),
    "A step of Airflow's own scheduler, task runner or compiler, which svc does elsewhere.": (
        "airflow.sdk.AsyncCallback: get_callback_path verify_callable",
        "airflow.sdk.BaseOperator: expand_start_trigger_args get_needs_expansion get_upstreams_follow_setups",
        "airflow.sdk.BaseOperator: get_upstreams_only_setups get_upstreams_only_setups_and_teardowns",
        "airflow.sdk.BaseOperator: iter_mapped_dependants overwrite_rtif_after_execution prepare_for_execution unmap",
        "airflow.sdk.BaseXCom: set(_mapped_length=None)",
        "airflow.sdk.DAG: check_cycle validate validate_setup_teardown",
        "airflow.sdk.SyncCallback: get_callback_path verify_callable",
        "airflow.sdk.TaskGroup: get_upstreams_follow_setups get_upstreams_only_setups",
        "airflow.sdk.TaskGroup: get_upstreams_only_setups_and_teardowns",
        "airflow.sdk.XComArg: iter_xcom_references(arg)",
        "airflow.providers.standard.operators.bash.BashOperator: subprocess_hook",
        "airflow.providers.standard.operators.hitl.HITLOperator: process_trigger_event_error validate_params_input",
        "airflow.providers.standard.operators.python.ExternalPythonOperator: get_python_source",
        "airflow.providers.standard.operators.python.PythonOperator: aexecute_callable determine_kwargs",
        "airflow.providers.standard.operators.python.PythonVirtualenvOperator: get_python_source",
        "airflow.providers.standard.sensors.external_task.ExternalTaskSensor: get_count get_external_task_group_task_ids",
        "airflow.providers.standard.triggers.external_task.DagStateTrigger: validate_count_dags_af_3",
        "airflow.providers.standard: triggers.hitl utils.openlineage utils.sensor_helper",
        "airflow.providers.standard.utils.python_virtualenv: write_python_script",
    ),
    "A constant of Airflow's implementation.": (
        "airflow.providers.standard.operators.python.ExternalPythonOperator: AIRFLOW_SERIALIZABLE_CONTEXT_KEYS",
        "airflow.providers.standard.operators.python.ExternalPythonOperator: BASE_SERIALIZABLE_CONTEXT_KEYS",
        "airflow.providers.standard.operators.python.ExternalPythonOperator: PENDULUM_SERIALIZABLE_CONTEXT_KEYS",
        "airflow.providers.standard.operators.python.PythonOperator: BLUE",
        "airflow.providers.standard.operators.python.PythonVirtualenvOperator: AIRFLOW_SERIALIZABLE_CONTEXT_KEYS",
        "airflow.providers.standard.operators.python.PythonVirtualenvOperator: BASE_SERIALIZABLE_CONTEXT_KEYS",
        "airflow.providers.standard.operators.python.PythonVirtualenvOperator: PENDULUM_SERIALIZABLE_CONTEXT_KEYS",
        "airflow.providers.standard.operators.smooth.SmoothOperator: yt_link",
        "airflow.providers.standard.operators.trigger_dagrun.TriggerDagRunOperator: attributes_not_supported_in_airflow_2",
    ),
    "`@asset` takes these as keywords and refuses others. The result is an asset; its DAG is made at once.": (
        "airflow.sdk: asset(is_paused_upon_creation=None) asset(dag_id=None) asset(dag_display_name=None)",
        "airflow.sdk: asset(description=None) asset(params=None) asset(on_success_callback=None)",
        "airflow.sdk: asset(on_failure_callback=None) asset(access_control=None) asset(owner_links=…) asset(tags=…)",
        "airflow.sdk: asset(name=None) asset(uri=None) asset(group='asset') asset(extra=…) asset(watchers=…)",
        "airflow.sdk.asset: access_control create_dag dag_display_name dag_id description extra group",
        "airflow.sdk.asset: is_paused_upon_creation name on_failure_callback on_success_callback owner_links params",
        "airflow.sdk.asset: schedule tags uri watchers",
    ),
    "These classes have no context of their own. Loggers are those of the operator.": (
        "airflow.sdk: BranchMixIn(context=None) SkipMixin(context=None)",
        "airflow.sdk.SkipMixin: logger",
        "airflow.providers.standard.operators.branch: BranchMixIn(context=None)",
        "airflow.providers.standard.utils.skipmixin: SkipMixin(context=None)",
        "airflow.providers.standard.utils.skipmixin.SkipMixin: logger",
    ),
    "Set only where it was given: by a job, by an argument, or by the default of the constructor.": (
        "airflow.sdk.BaseOperator: default_args task_concurrency",
        "airflow.sdk.TaskInstance: end_date hostname state",
    ),
    "Airflow 3.3 gives it a constructor with named arguments, and so do we.": (
        "airflow.sdk: IdentityMapper(*) IdentityMapper(**) PartitionMapper(*) PartitionMapper(**)",
    ),
    "Ours names each argument, and refuses others.": ("airflow.sdk: Connection(**)",),
    "Not supported yet.": (
        "airflow.sdk.DAG: partial_subset",
        "airflow.sdk.MultipleCronTriggerTimetable: timetables",
    ),
}

EXPLAINED: dict[str, str] = {
    f"{owner}.{name}": reason
    for reason, lines in _REASONS.items()
    for owner, _, names in (line.partition(": ") for line in lines)
    for name in names.split()
}
