"""A cluster that is made before and removed after the work."""
from airflow.sdk import DAG, setup, task, teardown

with DAG("setups", schedule=None):

    @setup
    def make_cluster():
        return "name"

    @task
    def work(cluster): ...

    @teardown(on_failure_fail_dagrun=True)
    def remove_cluster(cluster): ...

    name = make_cluster()
    with remove_cluster(name) as scope:
        first = work(name)
        first >> work.override(task_id="more")(name)
    plain = work.override(task_id="outside")("other")
    plain.as_setup() >> work.override(task_id="last")("x").as_teardown(setups=plain)
