"""Every common task argument."""
from datetime import datetime, timedelta

from airflow.sdk import DAG
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.empty import EmptyOperator


def note(context):
    pass


def done(context):
    pass


with DAG("all_arguments", schedule="@daily", start_date=datetime(2024, 1, 1), catchup=False):
    BashOperator(
        task_id="everything",
        bash_command="true",
        owner="me",
        email=["a@example.com", "b@example.com"],
        email_on_retry=False,
        email_on_failure=False,
        retries=5,
        retry_delay=timedelta(seconds=30),
        retry_exponential_backoff=True,
        max_retry_delay=timedelta(minutes=30),
        start_date=datetime(2024, 2, 1),
        end_date=datetime(2025, 2, 1),
        depends_on_past=True,
        ignore_first_depends_on_past=True,
        wait_for_past_depends_before_skipping=True,
        wait_for_downstream=True,
        params={"p": 1},
        priority_weight=10,
        weight_rule="absolute",
        queue="big",
        pool="db",
        pool_slots=3,
        execution_timeout=timedelta(hours=1),
        on_execute_callback=note,
        on_failure_callback=[note, done],
        on_success_callback=done,
        on_retry_callback=note,
        on_skipped_callback=note,
        trigger_rule="all_done",
        run_as_user="batch",
        max_active_tis_per_dag=4,
        max_active_tis_per_dagrun=2,
        executor_config={"KubernetesExecutor": {"image": "x:1"}},
        do_xcom_push=False,
        inlets=[],
        doc_md="**task** docs",
        task_display_name="All of it",
        map_index_template="{{ x }}",
    )
    EmptyOperator(task_id="numbers", retry_delay=90, max_retry_delay=600, retry_exponential_backoff=1.5)
    EmptyOperator(task_id="docs", doc="plain", doc_json="{}", doc_yaml="a: 1", doc_rst="rst")
