"""auto_register=False and a DAG that never reaches the module's names are not found."""
from airflow.sdk import DAG
from airflow.providers.standard.operators.empty import EmptyOperator


def unused():
    with DAG("hidden_unregistered", auto_register=False, schedule=None):
        EmptyOperator(task_id="a")
    EmptyOperator(task_id="a", dag=DAG("hidden_local", schedule=None))


unused()
with DAG("hidden_visible", schedule=None):
    EmptyOperator(task_id="a")
