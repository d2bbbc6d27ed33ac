"""One task holds the only slot of a pool and waits for another task that needs it."""

from airflow.sdk import DAG, task

with DAG("deadlocked_pool", schedule=None):

    @task(pool="narrow")
    def hold_and_wait() -> None:
        import os
        import time

        while not os.path.exists("/tmp/svc-diagnose/prepared"):
            print("waiting for what prepare makes")
            time.sleep(5)

    @task(pool="narrow")
    def prepare() -> None:
        print("prepared")

    hold_and_wait()
    prepare()
