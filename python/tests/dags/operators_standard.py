"""Every standard operator with its arguments."""
import datetime as dt

from airflow.sdk import DAG
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.datetime import BranchDateTimeOperator
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.latest_only import LatestOnlyOperator
from airflow.providers.standard.operators.python import (
    BranchExternalPythonOperator,
    BranchPythonOperator,
    BranchPythonVirtualenvOperator,
    ExternalPythonOperator,
    PythonOperator,
    PythonVirtualenvOperator,
    ShortCircuitOperator,
)
from airflow.providers.standard.operators.smooth import SmoothOperator
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.providers.standard.operators.weekday import BranchDayOfWeekOperator
from airflow.providers.standard.utils.weekday import WeekDay


def f():
    return "yes"


with DAG("operators_standard", schedule="@daily", start_date=dt.datetime(2024, 1, 1)):
    yes, no = EmptyOperator(task_id="yes"), EmptyOperator(task_id="no")
    BashOperator(
        task_id="bash", bash_command="exit 99", env={"A": "b"}, append_env=True, skip_on_exit_code=[98, 99], cwd="/tmp",
        output_encoding="latin-1",
    )
    PythonOperator(task_id="python", python_callable=f, show_return_value_in_logs=False)
    BranchPythonOperator(task_id="branch", python_callable=f) >> [yes, no]
    ShortCircuitOperator(task_id="short", python_callable=f) >> yes
    PythonVirtualenvOperator(
        task_id="venv", python_callable=f, requirements=["a==1", "b"], python_version="3.11", pip_install_options=["-q"]
    )
    ExternalPythonOperator(task_id="external", python_callable=f, python="/usr/bin/python3", expect_airflow=False)
    BranchExternalPythonOperator(task_id="branch_external", python_callable=f, python="/usr/bin/python3") >> yes
    BranchPythonVirtualenvOperator(task_id="branch_venv", python_callable=f) >> yes
    LatestOnlyOperator(task_id="latest") >> no
    TriggerDagRunOperator(
        task_id="trigger",
        trigger_dag_id="dependencies",
        trigger_run_id="run_{{ ds }}",
        conf={"a": "{{ ds }}"},
        logical_date="{{ logical_date }}",
        reset_dag_run=True,
        wait_for_completion=True,
        poke_interval=20,
        allowed_states=["success", "failed"],
        failed_states=[],
    )
    TriggerDagRunOperator(task_id="trigger_plain", trigger_dag_id="dependencies")
    BranchDayOfWeekOperator(
        task_id="dow", follow_task_ids_if_true="yes", follow_task_ids_if_false="no", week_day={"Monday", WeekDay.TUESDAY}
    ) >> [yes, no]
    BranchDateTimeOperator(
        task_id="date", follow_task_ids_if_true=["yes"], follow_task_ids_if_false=["no"],
        target_lower=dt.time(8, 0), target_upper=dt.time(17, 30),
    ) >> [yes, no]
    SmoothOperator(task_id="smooth")
