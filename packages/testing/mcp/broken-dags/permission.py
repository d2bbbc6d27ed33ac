"""A folder that belongs to somebody else."""

from airflow.sdk import DAG, task

with DAG("permission", schedule=None):

    @task
    def write_report() -> None:
        import os
        import tempfile

        folder = tempfile.mkdtemp(prefix="finance-")
        os.chmod(folder, 0o500)
        if os.geteuid() == 0:  # the administrator may write everywhere
            os.seteuid(65_534)
        try:
            with open(os.path.join(folder, "report.csv"), "w") as file:
                file.write("a,b\n")
        finally:
            if os.getuid() == 0:
                os.seteuid(0)

    @task
    def send() -> None:
        print("sent")

    write_report() >> send()
