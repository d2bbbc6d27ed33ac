import os
import tempfile

from airflow.providers.google.cloud.hooks.gcs import GCSHook
from airflow.providers.google.cloud.sensors.gcs import GCSObjectExistenceSensor
from airflow.providers.google.cloud.transfers.local_to_gcs import LocalFilesystemToGCSOperator
from airflow.sdk import DAG, task

# The SDK's own way to name an emulator; the test writes its address here.
os.environ["STORAGE_EMULATOR_HOST"] = "GCS_EMULATOR_URL"
FILE = os.path.join(tempfile.gettempdir(), "svc-provider-google.txt")

with DAG("provider_google", schedule=None, default_args={"gcp_conn_id": "probe_google"}):

    @task
    def write():
        with open(FILE, "w", encoding="utf-8") as file:
            file.write("sent to a bucket")

    put = LocalFilesystemToGCSOperator(task_id="put", src=FILE, dst="runs/{{ run_id }}.txt", bucket="task-logs")
    there = GCSObjectExistenceSensor(
        task_id="there",
        google_cloud_conn_id="probe_google",
        bucket="task-logs",
        object="runs/{{ run_id }}.txt",
        poke_interval=1,
        timeout=30,
    )

    @task
    def read():
        hook = GCSHook(gcp_conn_id="probe_google")
        return [hook.download("task-logs", name).decode() for name in hook.list("task-logs", prefix="runs/")]

    write() >> put >> there >> read()
