"""A file whose helper is beside it, which is no DAG file."""
from datetime import datetime

from beside import NAMES, step

from airflow.sdk import DAG

with DAG("import_helper", schedule="@daily", start_date=datetime(2026, 1, 1)):
    before = None
    for name in NAMES:
        now = step(name)
        if before is not None:
            before >> now
        before = now
