import os
import tempfile

from airflow.providers.common.io.operators.file_transfer import FileTransferOperator
from airflow.sdk import DAG, ObjectStoragePath, task

base = ObjectStoragePath("s3://probe_aws@probe-storage/")
LOCAL = os.path.join(tempfile.gettempdir(), "svc-provider-storage.txt")

with DAG("provider_storage", schedule=None):

    @task
    def write(run_id=None):
        base.mkdir(exist_ok=True)
        path = base / "in" / "rows.csv"
        with path.open("w") as file:
            file.write(f"run\n{run_id}\n")
        ObjectStoragePath(LOCAL).write_text("sent by the operator")
        if ObjectStoragePath(f"{LOCAL}.d").exists():  # of an earlier run
            ObjectStoragePath(f"{LOCAL}.d").rmdir()
        return path

    @task
    def read(path):
        path.copy(base / "copied" / "rows.csv")
        (base / "copied" / "rows.csv").move(base / "moved" / "rows.csv")
        (base / "moved").copy(f"file://{LOCAL}.d", recursive=True)
        return {
            "text": path.read_text(),
            "size": path.stat().st_size,
            "files": sorted(found.key for found in base.glob("**/*.csv")),
            "folders": sorted(found.key for found in base.iterdir()),
            "local": sorted(found.name for found in ObjectStoragePath(f"{LOCAL}.d").rglob("*.csv")),
            "is": [path.exists(), path.is_file(), path.parent.is_dir(), (base / "copied" / "rows.csv").exists()],
        }

    transfer = FileTransferOperator(
        task_id="transfer", src=LOCAL, dst="s3://probe-storage/sent.txt", dest_conn_id="probe_aws", overwrite=True
    )

    @task
    def sent():
        path = ObjectStoragePath("s3://probe-storage/sent.txt", conn_id="probe_aws")
        text = path.read_text()
        path.unlink()
        return [text, path.exists()]

    done = read(write())
    done >> transfer >> sent()
