"""Unusual schedules, dates and tags."""
import pendulum
from dateutil.relativedelta import relativedelta
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG
from airflow.timetables.interval import CronDataIntervalTimetable

local = pendulum.timezone("America/New_York")
with DAG("delta_of_months", schedule=relativedelta(months=+1), start_date=pendulum.datetime(2026, 1, 1, tz=local)):
    EmptyOperator(task_id="only")
with DAG("cron_of_six", schedule="0 0 L * *", start_date=pendulum.datetime(2026, 1, 1, tz=local), end_date=pendulum.datetime(2027, 1, 1)):
    EmptyOperator(task_id="only")
with DAG("of_zone", schedule=CronDataIntervalTimetable("0 0 * * MON#1", timezone=local), start_date=pendulum.today("UTC").add(days=-3)):
    EmptyOperator(task_id="only")
