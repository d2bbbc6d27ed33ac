# -*- coding: utf-8 -*-
"""Yesterday's sales, as the team wrote it in 2020."""
from datetime import timedelta

from airflow import DAG
from airflow.operators.bash_operator import BashOperator
from airflow.operators.dummy_operator import DummyOperator
from airflow.operators.python_operator import PythonOperator
from airflow.utils.dates import days_ago
from airflow.utils.trigger_rule import TriggerRule

from common.notify import SALES, tell_team

default_args = {
    "owner": "sales",
    "depends_on_past": False,
    "start_date": days_ago(2),
    "retries": 1,
    "retry_delay": timedelta(seconds=5),
    "provide_context": True,
    "on_failure_callback": tell_team,
}


def extract(**kwargs):
    day = kwargs["execution_date"].strftime("%Y-%m-%d")
    return [{"day": day, "amount": amount} for amount in (12, 30, 7)]


def total(ti, execution_date, **kwargs):
    rows = ti.xcom_pull(task_ids="extract")
    print(f"{execution_date:%Y-%m-%d}: {sum(row['amount'] for row in rows)}")


dag = DAG(
    "sales_daily",
    default_args=default_args,
    schedule_interval="@daily",
    concurrency=4,
    default_view="graph",  # the graph is what we look at
    catchup=False,
)

start = DummyOperator(task_id="start", dag=dag)
extracted = PythonOperator(task_id="extract", python_callable=extract, provide_context=True, dag=dag)
summed = PythonOperator(task_id="total", python_callable=total, provide_context=True, dag=dag)
shown = BashOperator(
    task_id="show",
    bash_command="sql/show.sh",
    task_concurrency=1,
    outlets=[SALES],
    dag=dag,
)
done = DummyOperator(task_id="done", trigger_rule=TriggerRule.ALL_DONE, dag=dag)

start >> extracted >> [summed, shown] >> done
