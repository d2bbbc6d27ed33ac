"""Mapped tasks and groups over literals, XComs and each other."""
from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, task, task_group

with DAG("mapped", schedule=timedelta(hours=6), start_date=datetime(2026, 1, 1)):

    @task
    def items():
        return [1, 2]

    @task(max_active_tis_per_dagrun=2, retries=1)
    def double(x, y):
        return x * y

    @task
    def total(values):
        return sum(values)

    @task_group
    def each(x):
        return double.override(task_id="inside")(x, 2)

    total(double.partial(y=items()).expand(x=items.override(task_id="more")()))
    total.override(task_id="total_of_groups")(each.expand(x=[1, 2, 3]))
    BashOperator.partial(task_id="files", env={"A": "b"}).expand_kwargs([{"bash_command": "x"}, {"bash_command": "y"}])
