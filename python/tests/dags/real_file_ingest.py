from datetime import datetime

import pendulum

from airflow.sdk import DAG, Asset, task
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.sensors.filesystem import FileSensor

LOCAL = pendulum.timezone("Europe/Berlin")

with DAG(
    "real_file_ingest",
    schedule="*/30 6-20 * * *",
    start_date=datetime(2024, 1, 1, tzinfo=LOCAL),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=pendulum.duration(minutes=25),
    tags=["ingest"],
):
    arrived = FileSensor(
        task_id="arrived", filepath="incoming/{{ ds_nodash }}/*.csv", fs_conn_id="landing", mode="reschedule", soft_fail=True
    )

    @task
    def list_files(ds_nodash=None) -> list[str]:
        return [f"{ds_nodash}/a.csv"]

    @task(max_active_tis_per_dag=4, map_index_template="{{ task.op_kwargs['path'] }}")
    def ingest(path: str):
        return path

    files = list_files()
    archive = BashOperator(
        task_id="archive",
        bash_command="mv /landing/{{ ds_nodash }} /archive/ && echo {{ var.value.archive_owner }}",
        outlets=[Asset("file:///archive")],
        trigger_rule="none_failed",
    )
    arrived >> files
    ingest.expand(path=files) >> archive
