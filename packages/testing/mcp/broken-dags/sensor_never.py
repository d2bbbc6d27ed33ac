"""A file that nobody writes."""

from airflow.providers.standard.sensors.filesystem import FileSensor
from airflow.sdk import DAG, task

with DAG("sensor_never", schedule=None):
    wait_for_export = FileSensor(
        task_id="wait_for_export",
        filepath="/tmp/svc-diagnose/export/_SUCCESS",
        poke_interval=1,
        timeout=4,
        mode="poke",
    )

    @task
    def load() -> None:
        print("loaded")

    wait_for_export >> load()
