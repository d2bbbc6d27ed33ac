"""@task in its plain forms: multiple outputs, keys, override, context, kwargs, defaults."""
from datetime import datetime

from airflow.decorators import dag, task


@dag(dag_id="taskflow", schedule="@daily", start_date=datetime(2024, 1, 1), catchup=False)
def build():
    @task
    def extract() -> dict[str, int]:
        return {"a": 1, "b": 2}

    @task(multiple_outputs=True)
    def split(data):
        return data

    @task(multiple_outputs=False)
    def whole() -> dict:
        return {}

    @task(task_id="renamed", retries=4, pool="p")
    def transform(a, b=2, *, c=3):
        """Adds
        things."""
        return a + b + c

    @task
    def with_context(x, ds=None, ti=None, **context):
        return x

    data = extract()
    parts = split(data)
    t = transform(data["a"], b=data["b"], c=parts["c"])
    transform.override(task_id="again", retries=1)(1)
    with_context(t)
    with_context([t, {"deep": parts["x"], "tuple": (t,)}])
    whole()
    transform(1)


build()
