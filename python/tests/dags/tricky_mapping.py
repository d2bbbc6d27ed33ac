"""Mapping of mapping, of groups inside groups, with classic operators inside mapped groups and reduced results."""
from datetime import timedelta

from airflow.sdk import DAG, task, task_group
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.python import PythonOperator

with DAG("tricky_mapping", schedule=None, default_args={"retries": 2, "pool": "p"}):

    @task
    def source():
        return [[1], [2]]

    @task(execution_timeout=timedelta(minutes=1), trigger_rule="all_done")
    def work(x, *, ds=None):
        return x

    @task
    def collect(values, extra=None):
        return values

    level_1 = work.expand(x=source())
    level_2 = work.override(task_id="again", retries=0).expand(x=level_1)
    collect(level_2)
    collect.partial(extra=level_1).expand(values=[[1], [2]])

    @task_group
    def group(x, y):
        bash = BashOperator(task_id="bash", bash_command="echo $X", env={"X": x})
        py = PythonOperator(task_id="py", python_callable=print, op_args=[x, y])
        bash >> py
        return work(x)

    collect.override(task_id="reduced")(group.partial(y="fixed").expand(x=source()))
    group.override(group_id="two_dims").expand(x=[1, 2], y=source())

    @task_group
    def outer(item):
        @task
        def prepare(item):
            return [item]

        work.override(task_id="inner_map").expand(x=prepare(item))

    PythonOperator.partial(task_id="kw", python_callable=print, op_kwargs={"a": source()}).expand(op_args=[[1], [2]])
    BashOperator.partial(task_id="two", map_index_template="{{ task.env }}").expand(bash_command=["a"], env=[{"A": "1"}])
