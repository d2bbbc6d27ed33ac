"""Several DAGs made in a loop and one by name; the loop variable is not the only reference."""
from datetime import datetime

from airflow.sdk import DAG
from airflow.providers.standard.operators.empty import EmptyOperator

for region in ["eu", "us", "apac"]:
    with DAG(f"several_{region}", schedule="@weekly", start_date=datetime(2024, 1, 1), tags=[region]):
        EmptyOperator(task_id="a") >> EmptyOperator(task_id="b")


def build(dag_id):
    built = DAG(dag_id, schedule="@monthly")
    EmptyOperator(task_id="only", dag=built)
    return built


globals()["several_built"] = build("several_built")
