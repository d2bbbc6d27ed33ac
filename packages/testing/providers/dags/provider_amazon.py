from airflow.providers.amazon.aws.hooks.s3 import S3Hook
from airflow.providers.amazon.aws.hooks.secrets_manager import SecretsManagerHook
from airflow.providers.amazon.aws.operators.s3 import S3CreateBucketOperator, S3CreateObjectOperator, S3ListOperator
from airflow.providers.amazon.aws.operators.sqs import SqsPublishOperator
from airflow.providers.amazon.aws.sensors.s3 import S3KeySensor
from airflow.providers.amazon.aws.sensors.sqs import SqsSensor
from airflow.sdk import DAG, Asset, task

with DAG("provider_amazon", schedule=None, default_args={"aws_conn_id": "probe_aws"}):
    bucket = S3CreateBucketOperator(task_id="bucket", bucket_name="probe-bucket")
    put = S3CreateObjectOperator(
        task_id="put",
        s3_bucket="probe-bucket",
        s3_key="runs/{{ run_id }}.txt",
        data="from {{ ti.task_id }}",
        replace=True,
        outlets=[Asset("s3://probe-bucket/runs")],
    )
    there = S3KeySensor(
        task_id="there", bucket_name="probe-bucket", bucket_key="runs/{{ run_id }}.txt", poke_interval=1, timeout=30
    )
    listed = S3ListOperator(task_id="listed", bucket="probe-bucket", prefix="runs/")

    @task
    def queue():
        from airflow.providers.amazon.aws.hooks.sqs import SqsHook

        return SqsHook(aws_conn_id="probe_aws").create_queue("probe-queue")["QueueUrl"]

    url = queue()
    publish = SqsPublishOperator(task_id="publish", sqs_queue=url, message_content="hello {{ run_id }}")
    received = SqsSensor(task_id="received", sqs_queue=url, poke_interval=1, timeout=30)

    @task
    def secret():
        hook = SecretsManagerHook(aws_conn_id="probe_aws")
        hook.conn.create_secret(Name="probe", SecretString="known-to-moto-1815")
        return len(hook.get_secret("probe"))

    @task
    def read():
        hook = S3Hook(aws_conn_id="probe_aws")
        return [hook.read_key(key, "probe-bucket") for key in hook.list_keys("probe-bucket")]

    bucket >> put >> there >> listed >> read()
    url >> publish >> received
    secret()
