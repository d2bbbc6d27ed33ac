"""One task per item, however many there are: the list is made by a task, so its length is known only at run time."""

from airflow.sdk import Param, dag, task


@dag(
    schedule=None,
    params={"up_to": Param(8, type="integer", minimum=1, maximum=100, title="Numbers up to")},
    tags=["example", "mapping"],
    doc_md=__doc__,
)
def fan_out():
    @task
    def numbers(params: dict) -> list[int]:
        return list(range(1, params["up_to"] + 1))

    # The name under which each of them is listed; without it they would be 0, 1, 2 …
    @task(map_index_template="{{ task.op_kwargs['n'] }}²")
    def square(n: int) -> int:
        return n * n

    @task
    def add_up(squares: list[int]) -> int:
        total = sum(squares)
        print(f"The sum of the squares is {total}")
        return total

    add_up(square.expand(n=numbers()))


fan_out()
