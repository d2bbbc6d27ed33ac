"""The author thinks in UTC; the schedule is read in the zone of the start date."""

import pendulum
from airflow.sdk import DAG, task

with DAG(
    "zone_mistake",
    schedule="0 6 * * *",
    start_date=pendulum.datetime(2026, 1, 5, tz="America/New_York"),
    end_date=pendulum.datetime(2026, 1, 6, 12, tz="America/New_York"),
    catchup=True,
):

    @task
    def read_window(data_interval_end=None) -> None:
        utc = data_interval_end.in_timezone("UTC")
        print(f"The interval ends at {utc.isoformat()}")
        if utc.hour != 6:
            raise ValueError(f"the export of 06:00 UTC is read, but the interval ends at {utc:HH:mm} UTC")

    read_window()
