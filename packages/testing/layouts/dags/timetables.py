"""Every way to say when."""
from datetime import datetime, timedelta

import pendulum
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG
from airflow.timetables.events import EventsTimetable
from airflow.timetables.interval import CronDataIntervalTimetable, DeltaDataIntervalTimetable
from airflow.timetables.trigger import CronTriggerTimetable, DeltaTriggerTimetable, MultipleCronTriggerTimetable

WAYS = {
    "cron": "5 4 * * *",
    "preset": "@yearly",
    "delta": timedelta(days=2),
    "once": "@once",
    "continuous": "@continuous",
    "none": None,
    "trigger": CronTriggerTimetable("0 8 * * *", timezone="Europe/Berlin", interval=timedelta(days=1)),
    "interval": CronDataIntervalTimetable("0 8 * * *", timezone="UTC"),
    "delta_interval": DeltaDataIntervalTimetable(timedelta(hours=3)),
    "delta_trigger": DeltaTriggerTimetable(timedelta(hours=3)),
    "several": MultipleCronTriggerTimetable("0 8 * * *", "0 20 * * *", timezone="UTC"),
    "events": EventsTimetable(event_dates=[pendulum.datetime(2026, 4, 5, tz="UTC")], description="launches"),
}
for name, schedule in WAYS.items():
    start = pendulum.datetime(2026, 1, 1, tz="Asia/Tokyo") if name == "cron" else datetime(2026, 1, 1)
    with DAG(f"timetables_{name}", schedule=schedule, start_date=start, max_active_runs=1):
        EmptyOperator(task_id="only")
