import datetime as dt
from zoneinfo import ZoneInfo

import pendulum

from airflow.sdk import DAG
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.utils import timezone

ZONES = {
    "pendulum": pendulum.datetime(2024, 1, 1, tz="Asia/Tokyo"),
    "utc": dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc),
    "naive": dt.datetime(2024, 1, 1, 12, 30),
    "helper": timezone.datetime(2024, 1, 1),
}
for name, start in ZONES.items():
    with DAG(f"tz_{name}", schedule="0 4 * * *", start_date=start, end_date=dt.datetime(2025, 1, 1)):
        EmptyOperator(task_id="a")
with DAG("tz_zoneinfo", schedule="0 4 * * *", start_date=dt.datetime(2024, 7, 1, tzinfo=ZoneInfo("Europe/Paris"))):
    EmptyOperator(task_id="a")
