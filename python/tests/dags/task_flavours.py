"""The decorator's variants."""
from airflow.sdk import DAG, task
from airflow.sdk import PokeReturnValue

with DAG("task_flavours", schedule=None):

    @task.python
    def plain():
        return 1

    @task.bash(env={"A": "1"})
    def shell(x):
        return f"echo {x}"

    @task.branch
    def choose(x):
        return "left"

    @task.short_circuit(ignore_downstream_trigger_rules=False)
    def gate(x):
        return x

    @task.sensor(poke_interval=30, timeout=3600, mode="reschedule", soft_fail=True)
    def wait():
        return PokeReturnValue(is_done=True, xcom_value="v")

    @task.virtualenv(requirements=["requests==2.0"], system_site_packages=False)
    def in_venv(x):
        return x

    @task.external_python(python="/usr/bin/python3")
    def elsewhere():
        return 1

    @task.branch_virtualenv(requirements="a==1")
    def choose_venv():
        return "left"

    @task.branch_external_python(python="/usr/bin/python3")
    def choose_external():
        return "left"

    @task
    def left():
        pass

    @task
    def right():
        pass

    p = plain()
    shell(p)
    l, r = left(), right()
    choose(p) >> [l, r]
    gate(p) >> r
    wait() >> in_venv(p)
    elsewhere()
    choose_venv() >> l
    choose_external() >> l
