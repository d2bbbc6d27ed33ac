"""Meant for the last day of February; there is no 31st."""

import pendulum
from airflow.sdk import DAG, task

with DAG("wrong_schedule", schedule="0 6 31 2 *", start_date=pendulum.datetime(2026, 1, 1, tz="UTC")):

    @task
    def close_month() -> None:
        print("closed")

    close_month()
