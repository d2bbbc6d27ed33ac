"""A DAG for each entry of a table, and a task for each of its steps."""
from datetime import datetime

from airflow.models import Variable
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

TABLE = {
    "orders": {"schedule": "@hourly", "steps": ["extract", "clean", "load"], "retries": 2},
    "people": {"schedule": "30 2 * * *", "steps": ["extract", "load"], "retries": 0},
    "stock": {"schedule": None, "steps": ["load"], "retries": 1},
}
BUCKET = Variable.get("bucket_of_layouts", default_var="none")


def make(name, settings):
    dag = DAG(f"from_table_{name}", schedule=settings["schedule"], start_date=datetime(2026, 1, 1), tags=[name])
    before = None
    for step in settings["steps"]:
        task = BashOperator(
            task_id=f"{step}_{name}", bash_command=f"echo {BUCKET}", dag=dag, retries=settings["retries"]
        )
        if before is not None:
            before >> task
        before = task
    return dag


for name, settings in TABLE.items():
    globals()[f"dag_{name}"] = make(name, settings)
