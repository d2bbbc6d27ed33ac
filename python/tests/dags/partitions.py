from airflow.sdk import (
    DAG,
    Asset,
    CronPartitionTimetable,
    IdentityMapper,
    PartitionedAssetTimetable,
    StartOfDayMapper,
)
from airflow.providers.standard.operators.empty import EmptyOperator

hourly = Asset("hourly")
with DAG("partition_source", schedule=CronPartitionTimetable("0 * * * *", timezone="UTC")):
    EmptyOperator(task_id="a", outlets=[hourly])
with DAG(
    "partition_daily",
    schedule=PartitionedAssetTimetable(assets=hourly, default_partition_mapper=StartOfDayMapper()),
):
    EmptyOperator(task_id="a")
with DAG(
    "partition_each",
    schedule=PartitionedAssetTimetable(assets=hourly, partition_mapper_config={hourly: IdentityMapper()}),
):
    EmptyOperator(task_id="a")
