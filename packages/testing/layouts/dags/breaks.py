"""Does not load, on Airflow either."""
from airflow.sdk import DAG

with DAG("breaks", schedule=None):
    missing_name  # noqa
