"""The smallest DAG worth having: two tasks, one value handed from the first to the second."""

from airflow.sdk import dag, task


@dag(schedule=None, tags=["example", "start here"], doc_md=__doc__)
def hello():
    @task
    def greet(name: str = "world") -> str:
        return f"Hello, {name}!"

    @task
    def shout(text: str) -> str:
        loud = text.upper()
        print(loud)
        return loud

    shout(greet())


hello()
