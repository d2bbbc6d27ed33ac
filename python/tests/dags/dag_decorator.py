from datetime import datetime

from airflow.sdk import Param, dag, task


@dag(schedule="@daily", start_date=datetime(2024, 5, 1), tags=["decorated"])
def decorated_pipeline(email: str = "someone@example.com", limit=Param(10, type="integer", minimum=1)):
    """Docstring becomes the documentation."""

    @task
    def extract(n):
        return list(range(n))

    @task
    def send(to, values):
        print(to, values)

    send(email, extract(limit))


decorated_pipeline()
