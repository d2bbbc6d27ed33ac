"""Three seconds are allowed, and the work takes longer."""

from datetime import timedelta

from airflow.sdk import DAG, task

with DAG("time_out", schedule=None):

    @task(execution_timeout=timedelta(seconds=3))
    def crawl() -> None:
        import time

        for page in range(1, 1_000):
            print(f"fetching page {page} of 1000")
            time.sleep(0.5)

    @task
    def index() -> None:
        print("indexed")

    crawl() >> index()
