"""Two DAGs of one loop."""
from datetime import datetime

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG

for country in ("de", "fr", "it"):
    with DAG(f"several_{country}", schedule="@hourly", start_date=datetime(2026, 1, 1)) as made:
        EmptyOperator(task_id=f"load_{country}") >> EmptyOperator(task_id="end")
    globals()[f"dag_{country}"] = made
