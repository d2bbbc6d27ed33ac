"""Two runs of each, the second after the first has ended."""
from airflow.sdk import DAG, get_current_context, task
from airflow.providers.standard.operators.empty import EmptyOperator

from steps import ok, skip

TWO_RUNS = {"schedule": None, "tags": ["two_runs"]}


def is_first_run():
    return get_current_context()["logical_date"].day == 1


with DAG("past_succeeded", **TWO_RUNS):
    ok("a", depends_on_past=True) >> ok("b", depends_on_past=True)

with DAG("past_skipped", **TWO_RUNS):
    skip("a", depends_on_past=True) >> ok("b", depends_on_past=True)

with DAG("past_waits_for_downstream", **TWO_RUNS):
    ok("a", wait_for_downstream=True) >> ok("b")

with DAG("past_branches_differ", **TWO_RUNS):

    @task.branch
    def choose():
        return "a" if is_first_run() else "b"

    ways = [ok(name, depends_on_past=True) for name in "ab"]
    choose() >> ways
    ways >> EmptyOperator(task_id="join", trigger_rule="none_failed_min_one_success", depends_on_past=True)

with DAG("past_second_fails", **TWO_RUNS):

    @task(depends_on_past=True)
    def fails_later():
        if not is_first_run():
            raise ValueError("as planned")

    fails_later() >> ok("after", depends_on_past=True)

with DAG("latest_only_by_hand", **TWO_RUNS):
    from airflow.providers.standard.operators.latest_only import LatestOnlyOperator

    latest = LatestOnlyOperator(task_id="latest")
    latest >> ok("a") >> ok("b")
    latest >> EmptyOperator(task_id="c", trigger_rule="all_done")
