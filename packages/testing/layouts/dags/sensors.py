"""Sensors of all modes, and DAGs that start each other."""
from datetime import datetime, timedelta

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.providers.standard.sensors.bash import BashSensor
from airflow.providers.standard.sensors.external_task import ExternalTaskMarker, ExternalTaskSensor
from airflow.providers.standard.sensors.filesystem import FileSensor
from airflow.providers.standard.sensors.python import PythonSensor
from airflow.providers.standard.sensors.time_delta import TimeDeltaSensor
from airflow.sdk import DAG, PokeReturnValue, task

with DAG("sensors", schedule="@daily", start_date=datetime(2026, 1, 1), dagrun_timeout=timedelta(hours=2)):
    file = FileSensor(task_id="file", filepath="/tmp/{{ ds }}.csv", mode="reschedule", poke_interval=30)
    other = ExternalTaskSensor(task_id="other", external_dag_id="classic", external_task_id="join", timeout=600)
    check = BashSensor(task_id="check", bash_command="true", soft_fail=True)
    ready = PythonSensor(task_id="ready", python_callable=lambda: True, exponential_backoff=True)
    late = TimeDeltaSensor(task_id="late", delta=timedelta(minutes=5))

    @task.sensor(poke_interval=5, timeout=60, mode="poke")
    def own() -> PokeReturnValue:
        return PokeReturnValue(is_done=True, xcom_value="x")

    start = TriggerDagRunOperator(task_id="start", trigger_dag_id="classic", wait_for_completion=True, conf={"a": "{{ ds }}"})
    mark = ExternalTaskMarker(task_id="mark", external_dag_id="classic", external_task_id="join")
    [file, other, check, ready, late, own()] >> start >> mark
