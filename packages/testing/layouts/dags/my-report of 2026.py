"""A file whose name is no name of a module."""
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG

dags = [DAG("in_a_list", schedule=None)]
by_name = {"x": DAG("in_a_dict", schedule=None)}


def hidden():
    with DAG("autoregistered", schedule=None):
        EmptyOperator(task_id="a")


hidden()
with DAG("at_the_top", schedule="@daily", default_args={"retries": 2}) as dag:
    EmptyOperator(task_id="a") >> EmptyOperator(task_id="b", retries=1)
EmptyOperator(task_id="of_list", dag=dags[0])

if __name__ == "__main__":
    dag.test()
