"""A decision at run time: one branch runs, the other is skipped, and the end comes either way."""

from airflow.sdk import DAG, Label, Param, task
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG(
    "branching",
    schedule=None,
    params={"size": Param("small", enum=["small", "large"], title="Size of the order")},
    tags=["example", "branching"],
    doc_md=__doc__,
):

    @task.branch
    def choose(params: dict) -> str:
        return "ship_by_truck" if params["size"] == "large" else "ship_by_bike"

    @task
    def ship_by_bike() -> None:
        print("A bike is on its way")

    @task
    def ship_by_truck() -> None:
        print("A truck is on its way")

    done = EmptyOperator(task_id="done", trigger_rule="none_failed_min_one_success")
    decision = choose()
    decision >> Label("small") >> ship_by_bike() >> done
    decision >> Label("large") >> ship_by_truck() >> done
