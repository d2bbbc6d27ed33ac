"""Every standard sensor and the marker."""
import datetime as dt

from airflow.sdk import DAG
from airflow.providers.standard.sensors.bash import BashSensor
from airflow.providers.standard.sensors.date_time import DateTimeSensor, DateTimeSensorAsync
from airflow.providers.standard.sensors.external_task import ExternalTaskMarker, ExternalTaskSensor
from airflow.providers.standard.sensors.filesystem import FileSensor
from airflow.providers.standard.sensors.python import PythonSensor
from airflow.providers.standard.sensors.time import TimeSensor
from airflow.providers.standard.sensors.time_delta import TimeDeltaSensor, WaitSensor
from airflow.providers.standard.sensors.weekday import DayOfWeekSensor

with DAG("sensors_standard", schedule="@daily", start_date=dt.datetime(2024, 1, 1)):
    BashSensor(task_id="bash", bash_command="test -f /x", retry_exit_code=1)
    DateTimeSensor(task_id="date", target_time=dt.datetime(2025, 1, 1, 12))
    DateTimeSensorAsync(task_id="date_async", target_time="{{ data_interval_end }}")
    FileSensor(task_id="file", filepath="data/*.csv", fs_conn_id="fs_data", recursive=True, poke_interval=5)
    PythonSensor(task_id="python", python_callable=lambda: True, mode="reschedule", timeout=dt.timedelta(hours=1))
    TimeSensor(task_id="time", target_time=dt.time(8, 30))
    TimeDeltaSensor(task_id="delta", delta=dt.timedelta(hours=2), soft_fail=True)
    WaitSensor(task_id="wait", time_to_wait=dt.timedelta(minutes=5))
    DayOfWeekSensor(task_id="dow", week_day="Friday", use_task_logical_date=True)
    ExternalTaskSensor(task_id="ext_dag", external_dag_id="dependencies", check_existence=True)
    ExternalTaskSensor(
        task_id="ext_task",
        external_dag_id="dependencies",
        external_task_id="a",
        execution_delta=dt.timedelta(hours=1),
        failed_states=["failed"],
        exponential_backoff=True,
        max_wait=dt.timedelta(minutes=10),
    )
    ExternalTaskSensor(task_id="ext_tasks", external_dag_id="dependencies", external_task_ids=["a", "b"])
    ExternalTaskSensor(task_id="ext_group", external_dag_id="groups", external_task_group_id="section_1")
    ExternalTaskMarker(task_id="marker", external_dag_id="dependencies", external_task_id="a", recursion_depth=3)
