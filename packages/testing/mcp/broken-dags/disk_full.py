"""No room left where the export goes."""

from airflow.sdk import DAG, task

with DAG("disk_full", schedule=None):

    @task
    def export() -> None:
        import os
        import tempfile

        target = os.path.join(tempfile.mkdtemp(prefix="export-"), "orders.csv")
        os.symlink("/dev/full", target)  # a device that is always full
        print(f"Writing 100000 rows to {target}")
        with open(target, "w") as file:
            for row in range(100_000):
                file.write(f"{row},{row * 2}\n")

    @task
    def upload() -> None:
        print("uploaded")

    export() >> upload()
