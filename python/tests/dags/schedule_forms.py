"""One DAG per form of schedule."""
import datetime as dt

import pendulum
from dateutil.relativedelta import relativedelta

from airflow.sdk import (
    DAG,
    CronDataIntervalTimetable,
    CronTriggerTimetable,
    DeltaDataIntervalTimetable,
    DeltaTriggerTimetable,
    EventsTimetable,
    MultipleCronTriggerTimetable,
)
from airflow.providers.standard.operators.empty import EmptyOperator

BERLIN = "Europe/Berlin"
FORMS = {
    "none": None,
    "once": "@once",
    "hourly": "@hourly",
    "daily": "@daily",
    "weekly": "@weekly",
    "monthly": "@monthly",
    "quarterly": "@quarterly",
    "yearly": "@yearly",
    "cron": "*/15 2-4 1,15 * MON-FRI",
    "cron_names": "0 12 * jan,jul sun",
    "cron_last": "0 0 L * *",
    "cron_nth": "0 0 * * MON#2",
    "timedelta": dt.timedelta(hours=6),
    "relativedelta": relativedelta(months=1),
    "cron_trigger": CronTriggerTimetable("0 1 * * 3", timezone=BERLIN, interval=dt.timedelta(days=1)),
    "cron_trigger_now": CronTriggerTimetable("0 1 * * 3", timezone="UTC", run_immediately=dt.timedelta(minutes=5)),
    "cron_interval": CronDataIntervalTimetable("0 3 * * *", timezone=BERLIN),
    "multiple_cron": MultipleCronTriggerTimetable("0 8 * * *", "30 17 * * 5", timezone=BERLIN),
    "delta_trigger": DeltaTriggerTimetable(dt.timedelta(days=7), interval=dt.timedelta(days=1)),
    "delta_interval": DeltaDataIntervalTimetable(dt.timedelta(minutes=30)),
    "delta_relative": DeltaDataIntervalTimetable(relativedelta(days=1, hours=2)),
    "events": EventsTimetable(
        event_dates=[pendulum.datetime(2024, 4, 5, 8, 27, tz="America/Chicago"), pendulum.datetime(2024, 4, 1, tz="UTC")],
        description="Eclipses",
        restrict_to_events=True,
    ),
}
for name, schedule in FORMS.items():
    with DAG(f"schedule_{name}", schedule=schedule, start_date=dt.datetime(2024, 1, 1)):
        EmptyOperator(task_id="a")
with DAG("schedule_continuous", schedule="@continuous", max_active_runs=1, start_date=dt.datetime(2024, 1, 1)):
    EmptyOperator(task_id="a")
