"""A file in another encoding than the reader expects."""

from airflow.sdk import DAG, task

with DAG("encoding", schedule=None):

    @task
    def read_customers() -> int:
        import csv
        import os
        import tempfile

        path = os.path.join(tempfile.mkdtemp(prefix="inbox-"), "customers.csv")
        with open(path, "wb") as file:
            file.write("id,name\n1,Andr\u00e9\n".encode("latin-1"))
        print(f"Reading {path} as utf-8")
        with open(path, encoding="utf-8") as file:
            return len(list(csv.reader(file)))

    @task
    def load(rows: int) -> None:
        print(rows)

    load(read_customers())
