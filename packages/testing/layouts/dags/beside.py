from airflow.providers.standard.operators.bash import BashOperator

NAMES = ("one", "two", "three")


def step(name, **more):
    return BashOperator(task_id=f"step_{name}", bash_command=f"echo {name}", **more)
