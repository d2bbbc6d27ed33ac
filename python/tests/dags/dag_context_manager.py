"""A DAG as context manager with the common arguments."""
from datetime import datetime, timedelta

from airflow import DAG
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG(
    dag_id="context_manager",
    description="Every common DAG argument",
    schedule="0 6 * * 1-5",
    start_date=datetime(2024, 1, 1),
    end_date=datetime(2030, 12, 31),
    catchup=True,
    max_active_runs=3,
    max_active_tasks=8,
    max_consecutive_failed_dag_runs=5,
    dagrun_timeout=timedelta(hours=2),
    tags=["b", "a", "team:data"],
    doc_md="# Title\n\nSome text",
    dag_display_name="Context manager (shown)",
    is_paused_upon_creation=True,
    owner_links={"airflow": "mailto:team@example.com"},
    default_args={"owner": "team", "retries": 2, "retry_delay": timedelta(minutes=1)},
) as dag:
    start = EmptyOperator(task_id="start")
    work = BashOperator(task_id="work", bash_command="echo {{ ds }} {{ params }}")
    end = EmptyOperator(task_id="end", owner="other", retries=0)
    start >> work >> end
