from airflow.sdk import DAG, TaskGroup, task, chain
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("group_edges", schedule=None):
    @task
    def values():
        return [1]

    v = values()
    with TaskGroup("g1") as g1:
        EmptyOperator(task_id="a") >> EmptyOperator(task_id="b")
    with TaskGroup("g2") as g2:
        EmptyOperator(task_id="c")
    with TaskGroup("g3") as g3:
        EmptyOperator(task_id="d")
    [g1, g2] >> g3
    v >> g1
    g3 >> [EmptyOperator(task_id="x"), EmptyOperator(task_id="y")]
    g1 << EmptyOperator(task_id="before")
    chain(g2, EmptyOperator(task_id="between"), g3)
