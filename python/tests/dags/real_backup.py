from datetime import timedelta

import pendulum

from airflow import DAG
from airflow.operators.bash import BashOperator
from airflow.operators.latest_only import LatestOnlyOperator
from airflow.operators.weekday import BranchDayOfWeekOperator
from airflow.operators.empty import EmptyOperator


def page(context):
    print(context["task_instance"])


args = {
    "owner": "ops",
    "depends_on_past": True,
    "start_date": pendulum.datetime(2023, 6, 1, tz="America/Sao_Paulo"),
    "retries": 2,
    "retry_delay": timedelta(minutes=10),
    "on_failure_callback": page,
    "email": "ops@example.com",
    "email_on_retry": False,
}

dag = DAG("real_backup", default_args=args, schedule="@daily", catchup=True, max_active_runs=1, tags=["ops"])

latest = LatestOnlyOperator(task_id="latest", dag=dag)
kind = BranchDayOfWeekOperator(
    task_id="kind", follow_task_ids_if_true="full", follow_task_ids_if_false="incremental", week_day="Sunday", dag=dag
)
full = BashOperator(task_id="full", bash_command="backup --full", pool="backup", priority_weight=10, dag=dag)
incremental = BashOperator(task_id="incremental", bash_command="backup --inc {{ prev_ds }}", pool="backup", dag=dag)
verify = BashOperator(task_id="verify", bash_command="verify", trigger_rule="one_success", dag=dag)
end = EmptyOperator(task_id="end", dag=dag, wait_for_downstream=True)

latest >> kind >> [full, incremental] >> verify >> end
