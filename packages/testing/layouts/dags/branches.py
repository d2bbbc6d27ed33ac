"""Branches, short circuits and tasks that run only sometimes."""
from datetime import datetime

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.latest_only import LatestOnlyOperator
from airflow.providers.standard.operators.python import ShortCircuitOperator
from airflow.sdk import DAG, task

with DAG("branches", schedule="0 3 * * 1-5", start_date=datetime(2026, 1, 1), catchup=True):

    @task.short_circuit(ignore_downstream_trigger_rules=False)
    def is_open():
        return True

    @task.branch
    def which():
        return ["one"]

    @task.run_if(lambda context: context["dag_run"].run_type == "manual")
    @task
    def by_hand(): ...

    stop = ShortCircuitOperator(task_id="stop", python_callable=lambda: True)
    rules = ("all_success", "all_failed", "all_done", "one_failed", "one_success", "one_done", "none_failed", "none_skipped", "all_skipped", "always")
    ends = [EmptyOperator(task_id=f"rule_{rule}", trigger_rule=rule) for rule in rules]
    one, two = EmptyOperator(task_id="one"), EmptyOperator(task_id="two")
    LatestOnlyOperator(task_id="latest") >> is_open() >> which() >> [one, two]
    for end in ends:
        [one, two] >> end
    ends[0] >> stop >> by_hand()
