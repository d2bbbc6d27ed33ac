from airflow.sdk import DAG, task, task_group

with DAG("mapping_group", schedule=None):

    @task
    def files():
        return ["a", "b"]

    @task
    def load(name, mode):
        return name

    @task
    def check(name):
        return name

    @task
    def report(names):
        print(names)

    @task_group
    def process(name, mode="x"):
        loaded = load(name, mode)
        return check(loaded)

    @task_group
    def outer(name):
        @task_group
        def inner(x):
            check.override(task_id="deep")(x)

        inner(name)

    done = process.partial(mode="fast").expand(name=files())
    process.expand(name=["x", "y", "z"])
    process.expand_kwargs([{"name": "a", "mode": "m"}])
    outer.expand(name=files())
    done >> report(["end"])
