"""What one task hands on is a text, and the next one calculates with it."""

from airflow.sdk import DAG, task

with DAG("wrong_type", schedule=None):

    @task
    def count_rows():
        return "1200"

    @task
    def add_header(rows):
        total = rows + 1
        return total

    @task
    def check(total):
        print(total)

    check(add_header(count_rows()))
