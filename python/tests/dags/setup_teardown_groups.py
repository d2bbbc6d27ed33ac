from airflow.sdk import DAG, TaskGroup
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("setup_teardown_groups", schedule=None):
    with TaskGroup("g1") as g1:
        s = EmptyOperator(task_id="s").as_setup()
        w = EmptyOperator(task_id="w")
        t = EmptyOperator(task_id="t").as_teardown(setups=s)
        s >> w >> t
    with TaskGroup("g2") as g2:
        s = EmptyOperator(task_id="s").as_setup()
        w = EmptyOperator(task_id="w")
        t = EmptyOperator(task_id="t").as_teardown(setups=s, on_failure_fail_dagrun=True)
        s >> w >> t
    last = EmptyOperator(task_id="last")
    g1 >> g2 >> last
    with TaskGroup("g4") as g4:
        with EmptyOperator(task_id="td").as_teardown(setups=EmptyOperator(task_id="su").as_setup()):
            EmptyOperator(task_id="w1") >> EmptyOperator(task_id="w2")
    g4 >> EmptyOperator(task_id="after_g4")
