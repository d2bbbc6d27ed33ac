from airflow.sdk import DAG, task, task_group

with DAG("group_decorator", schedule=None):

    @task
    def start():
        return 1

    @task
    def add(x, y):
        return x + y

    @task_group
    def calc(x):
        """Adds twice."""
        return add(add(x, 1), 2)

    @task_group(group_id="named", tooltip="A tip", prefix_group_id=False)
    def other(x):
        add.override(task_id="unprefixed_add")(x, 5)

    r1 = calc(start())
    r2 = calc(r1)
    other(r2)
    calc.override(group_id="renamed")(3)
