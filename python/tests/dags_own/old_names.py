"""Names and paths that Airflow 3 dropped and files still carry."""
from datetime import datetime

from airflow.models import DAG
from airflow.operators.bash_operator import BashOperator
from airflow.operators.dummy_operator import DummyOperator
from airflow.operators.python_operator import PythonOperator
from airflow.utils.decorators import apply_defaults
from airflow.utils.helpers import chain
from airflow.datasets import Dataset, DatasetAlias
from airflow.timetables.datasets import DatasetOrTimeSchedule
from airflow.timetables.trigger import CronTriggerTimetable

dag = DAG("old_names", schedule_interval="@daily", start_date=datetime(2020, 1, 1), concurrency=4, default_view="graph")
chain(
    DummyOperator(task_id="a", dag=dag),
    BashOperator(task_id="b", bash_command="true", task_concurrency=2, dag=dag),
    PythonOperator(task_id="c", python_callable=print, dag=dag),
)
with DAG(
    "old_datasets",
    schedule=DatasetOrTimeSchedule(
        timetable=CronTriggerTimetable("0 1 * * *", timezone="UTC"), datasets=[Dataset("s3://x"), DatasetAlias("al")]
    ),
):
    DummyOperator(task_id="a")
