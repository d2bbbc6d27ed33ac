"""Task groups: a long countdown that stays readable. Click a group in the graph to open or close it.

Groups nest, can be linked like tasks, and can be mapped: the whole group runs once for each item.
"""

from airflow.sdk import DAG, TaskGroup, chain, task, task_group
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("rocket_launch", schedule=None, tags=["example", "task groups"], doc_md=__doc__):

    @task
    def choose_crew() -> list[str]:
        return ["Ripley", "Spock", "Valentina"]

    # A group as a context manager. Ids of its tasks begin with the id of the group: "fuelling.oxygen".
    with TaskGroup("fuelling", tooltip="Careful, cold") as fuelling:
        with TaskGroup("tanks"):
            tanks = [EmptyOperator(task_id=name) for name in ("oxygen", "hydrogen")]

        @task
        def weigh() -> int:
            print("The rocket weighs 549 t")
            return 549

        tanks >> weigh()

    @task
    def suit_up(name: str) -> str:
        return f"{name} in a suit"

    @task
    def strap_in(suited: str) -> str:
        print(f"{suited}, strapped in")
        return suited

    # A group as a function: it can be called twice, or mapped. Each member of the crew gets both tasks, and nobody
    # waits for the others between them.
    @task_group
    def boarding(name: str):
        return strap_in(suit_up(name))

    # A default for all tasks of a group.
    @task_group(default_args={"retries": 1})
    def countdown():
        @task
        def count(number: int) -> int:
            print(f"{number} …")
            return number

        # chain links one after the other, however many there are.
        chain(*[count.override(task_id=f"t_minus_{number}")(number) for number in (3, 2, 1)])

    @task
    def launch(crew: list[str]) -> None:
        print(f"🚀 Lift-off with {len(list(crew))} on board")

    crew = boarding.expand(name=choose_crew())
    counted = countdown()
    [fuelling, crew] >> counted
    counted >> launch(crew)
