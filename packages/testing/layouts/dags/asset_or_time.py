"""By time and by asset."""
import pendulum
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, Asset, AssetOrTimeSchedule, CronTriggerTimetable

with DAG(
    "asset_or_time",
    start_date=pendulum.datetime(2026, 1, 1, tz="Europe/Berlin"),
    schedule=AssetOrTimeSchedule(timetable=CronTriggerTimetable("0 1 * * 3", timezone="UTC"), assets=[Asset("x")]),
):
    EmptyOperator(task_id="one") >> EmptyOperator(task_id="two")
