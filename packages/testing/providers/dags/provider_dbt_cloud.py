import os
import tempfile

from airflow.providers.dbt.cloud.operators.dbt import DbtCloudGetJobRunArtifactOperator, DbtCloudRunJobOperator
from airflow.providers.dbt.cloud.sensors.dbt import DbtCloudJobRunSensor
from airflow.sdk import DAG, task

FILE = os.path.join(tempfile.gettempdir(), "svc-provider-dbt-cloud.json")

with DAG("provider_dbt_cloud", schedule=None, default_args={"dbt_cloud_conn_id": "probe_dbt_cloud"}):
    job = DbtCloudRunJobOperator(
        task_id="job", job_id=1, trigger_reason="run {{ run_id }}", check_interval=1, timeout=60
    )
    deferred = DbtCloudRunJobOperator(task_id="deferred", job_id=1, deferrable=True, check_interval=1, timeout=60)
    started = DbtCloudRunJobOperator(task_id="started", job_id=1, wait_for_termination=False)
    sensed = DbtCloudJobRunSensor(task_id="sensed", run_id=started.output, poke_interval=1, timeout=60)
    artifact = DbtCloudGetJobRunArtifactOperator(
        task_id="artifact", run_id=job.output, path="run_results.json", output_file_name=FILE
    )
    broken = DbtCloudRunJobOperator(task_id="broken", job_id=2, check_interval=1, timeout=60)

    @task
    def results(file):
        with open(file, encoding="utf-8") as opened:
            return opened.read()

    results(artifact.output)
