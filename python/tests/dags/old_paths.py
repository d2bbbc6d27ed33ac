"""Import paths of Airflow 2 that still work."""
from datetime import datetime

from airflow import DAG, Dataset
from airflow.decorators import task, task_group
from airflow.models import Variable
from airflow.models.baseoperator import chain
from airflow.models.param import Param
from airflow.operators.bash import BashOperator
from airflow.operators.empty import EmptyOperator
from airflow.operators.python import BranchPythonOperator, PythonOperator, ShortCircuitOperator
from airflow.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sensors.base import BaseSensorOperator
from airflow.sensors.external_task import ExternalTaskSensor
from airflow.sensors.filesystem import FileSensor
from airflow.sensors.python import PythonSensor
from airflow.utils.edgemodifier import Label
from airflow.utils.task_group import TaskGroup
from airflow.utils.trigger_rule import TriggerRule

with DAG("old_paths", schedule=[Dataset("s3://old/dataset")], start_date=datetime(2022, 1, 1)) as dag:
    a = BashOperator(task_id="a", bash_command="echo 1", outlets=[Dataset("s3://old/out")])
    with TaskGroup("tg"):
        b = EmptyOperator(task_id="b", trigger_rule=TriggerRule.NONE_FAILED)
    c = PythonOperator(task_id="c", python_callable=lambda: Variable.get("x"))
    chain(a, b, c)
