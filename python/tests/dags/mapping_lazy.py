"""map, zip and concat on lazy values."""
from airflow.sdk import DAG, task


def text(value):
    return str(value)


def total(values):
    return sum(values)


with DAG("mapping_lazy", schedule=None):

    @task
    def a():
        return [1, 2]

    @task
    def b():
        return [3, 4, 5]

    @task
    def use(x):
        print(x)

    first, second = a(), b()
    use.expand(x=first.map(text).map(lambda value: len(value)))
    use.expand(x=first.zip(second))
    use.expand(x=first.zip(second, fillvalue=0).map(total))
    use.expand(x=first.concat(second))
    use.expand(x=use.expand(x=first))
