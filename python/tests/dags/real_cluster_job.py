"""A temporary cluster: created, used by several jobs, always deleted."""
from datetime import datetime

from airflow.sdk import DAG, task
from airflow.providers.standard.operators.bash import BashOperator

with DAG("real_cluster_job", schedule=None, start_date=datetime(2024, 1, 1), tags=["spark"]):
    create = BashOperator(task_id="create_cluster", bash_command="cluster create", do_xcom_push=True)
    delete = BashOperator(task_id="delete_cluster", bash_command="cluster delete {{ ti.xcom_pull('create_cluster') }}")

    @task
    def submit(cluster: str, job: str):
        return f"{cluster}:{job}"

    with delete.as_teardown(setups=create):
        jobs = [submit.override(task_id=f"submit_{name}")(create.output, name) for name in ("load", "join", "score")]
        jobs[0] >> jobs[1] >> jobs[2]
