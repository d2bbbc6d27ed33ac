from datetime import datetime

from airflow.sdk import DAG
from airflow.providers.standard.operators.bash import BashOperator

CONFIG = {"alpha": {"schedule": "@daily", "steps": 2}, "beta": {"schedule": None, "steps": 3}}


def make_dag(name, schedule, steps):
    dag = DAG(f"factory_{name}", schedule=schedule, start_date=datetime(2024, 1, 1))
    previous = None
    for index in range(steps):
        task = BashOperator(task_id=f"step_{index}", bash_command=f"echo {index}", dag=dag)
        if previous:
            previous >> task
        previous = task
    return dag
