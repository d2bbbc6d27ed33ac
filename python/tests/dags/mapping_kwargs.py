from airflow.sdk import DAG, task
from airflow.providers.standard.operators.bash import BashOperator

with DAG("mapping_kwargs", schedule=None):

    @task
    def make():
        return [{"x": 1, "y": 2}, {"x": 3, "y": 4}]

    @task
    def add(x, y, z=0):
        return x + y + z

    add.expand_kwargs(make())
    add.partial(z=1).expand_kwargs([{"x": 1, "y": 2}, {"x": 3, "y": 4}])
    BashOperator.partial(task_id="commands").expand_kwargs(
        [{"bash_command": "echo $A", "env": {"A": "1"}}, {"bash_command": "true"}]
    )
