"""Operators, sensors, transfers, hooks and notifiers of packages that are not installed."""
from datetime import datetime

from airflow.sdk import DAG, task
from airflow.providers.amazon.aws.hooks.s3 import S3Hook
from airflow.providers.amazon.aws.operators.s3 import S3CreateObjectOperator
from airflow.providers.amazon.aws.sensors.s3 import S3KeySensor
from airflow.providers.amazon.aws.transfers.s3_to_redshift import S3ToRedshiftOperator
from airflow.providers.slack.notifications.slack import SlackNotifier, send_slack_notification

with DAG(
    "providers_aws",
    schedule="@daily",
    start_date=datetime(2024, 1, 1),
    on_failure_callback=send_slack_notification(text="failed", channel="#ops"),
    default_args={"aws_conn_id": "aws_prod"},
):
    wait = S3KeySensor(task_id="wait", bucket_key="s3://b/{{ ds }}/*", wildcard_match=True, mode="reschedule", poke_interval=30)
    create = S3CreateObjectOperator(task_id="create", s3_bucket="b", s3_key="k", data="x", aws_conn_id="aws_other")
    copy = S3ToRedshiftOperator.partial(task_id="copy", schema="public", redshift_conn_id="rs").expand(table=["a", "b"])

    @task(on_failure_callback=SlackNotifier(slack_conn_id="slack", text="{{ ti.task_id }}"))
    def keys():
        return S3Hook("aws_prod").list_keys("b")

    wait >> create >> copy
    S3CreateObjectOperator(task_id="from_value", s3_bucket="b", s3_key="k2", data=keys())
