"""A file that does not compile: the name was changed in one place only."""

from airflow.sdk import DAG, task

DEFAULT_RETRY = {"retries": 2}

with DAG("import_error", schedule="@daily", default_args=DEFAULT_RETRIES):

    @task
    def load() -> None:
        print("loaded")

    load()
