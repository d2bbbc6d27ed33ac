"""This one fails, on purpose: see what a failure looks like before you meet one of your own.

* `check_the_parachute` fails. Its log has the error and the line it comes from.
* `jump` never runs: it is `upstream_failed`, since what it needs has failed.
* `pack_up` runs all the same: its trigger rule is `all_done`.
* The run is failed, because `jump`, one of its last tasks, did not succeed.

Now mend it: set *Folded by* to "a professional" in the trigger form. Or correct the code below, and clear the failed
task with the newest version: only what failed runs again.
"""

from airflow.sdk import DAG, Param, task

with DAG(
    "fails_on_purpose",
    schedule=None,
    params={"folded_by": Param("a beginner", enum=["a beginner", "a professional"], title="Folded by")},
    tags=["example", "failure"],
    doc_md=__doc__,
):

    @task
    def climb() -> int:
        print("4,000 m. What a view!")
        return 4_000

    @task
    def check_the_parachute(metres: int, params: dict) -> str:
        if params["folded_by"] != "a professional":
            # Say what is wrong and what to do: whoever reads this at night will be grateful.
            raise ValueError(
                f"the parachute was folded by {params['folded_by']}: "
                f"do not jump from {metres} m, let a professional fold it"
            )
        return "The parachute is in order"

    @task
    def jump(verdict: str) -> None:
        print(f"{verdict}. Wheee!")

    @task(trigger_rule="all_done")
    def pack_up() -> None:
        print("Everything is packed up, whatever has happened")

    verdict = check_the_parachute(climb())
    jump(verdict)
    verdict >> pack_up()
