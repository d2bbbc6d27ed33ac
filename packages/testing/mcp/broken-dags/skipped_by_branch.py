"""Nothing failed, and yet the warehouse was not loaded: a branch went the other way."""

from airflow.sdk import DAG, task

with DAG("skipped_by_branch", schedule=None):

    @task
    def count_new() -> int:
        return 0

    @task.branch
    def is_there_work(count: int) -> str:
        print(f"{count} new orders")
        return "load" if count > 0 else "note_empty"

    @task
    def load() -> None:
        print("loaded")

    @task
    def note_empty() -> None:
        print("nothing to do")

    @task
    def publish() -> None:
        print("published")

    decision = is_there_work(count_new())
    loaded = load()
    decision >> [loaded, note_empty()]
    loaded >> publish()
