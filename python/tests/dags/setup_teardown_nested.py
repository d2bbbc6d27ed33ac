from airflow.sdk import DAG, setup, task, teardown
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("setup_teardown_nested", schedule=None):

    @setup
    def outer_setup():
        return 1

    @teardown
    def outer_teardown():
        pass

    @setup
    def inner_setup():
        return 1

    @teardown
    def inner_teardown():
        pass

    @task
    def work(x):
        pass

    with outer_teardown().as_teardown(setups=outer_setup()):
        first = EmptyOperator(task_id="first")
        with inner_teardown().as_teardown(setups=inner_setup()):
            work(1)
            work(2)
        EmptyOperator(task_id="other")
