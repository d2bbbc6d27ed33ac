from airflow.sdk import DAG
from airflow.providers.standard.sensors.filesystem import FileSensor

with DAG("mapping_sensor", schedule=None):
    FileSensor.partial(task_id="wait", poke_interval=10, mode="reschedule").expand(filepath=["/a", "/b"])
