import io
import zipfile

from airflow.providers.amazon.aws.hooks.base_aws import AwsBaseHook
from airflow.providers.amazon.aws.operators.lambda_function import (
    LambdaCreateFunctionOperator,
    LambdaInvokeFunctionOperator,
)
from airflow.providers.amazon.aws.sensors.lambda_function import LambdaFunctionStateSensor
from airflow.sdk import DAG, task

packed = io.BytesIO()
with zipfile.ZipFile(packed, "w") as archive:
    archive.writestr("main.py", "def handler(event, context):\n    return event\n")

with DAG("provider_lambda", schedule=None, default_args={"aws_conn_id": "probe_aws"}):

    @task
    def role():
        roles = AwsBaseHook(aws_conn_id="probe_aws", client_type="iam").conn
        return roles.create_role(RoleName="probe-role", AssumeRolePolicyDocument="{}")["Role"]["Arn"]

    create = LambdaCreateFunctionOperator(
        task_id="create",
        function_name="probe",
        runtime="python3.12",
        role=role(),
        handler="main.handler",
        code={"ZipFile": packed.getvalue()},
    )
    active = LambdaFunctionStateSensor(task_id="active", function_name="probe", poke_interval=1, timeout=30)
    invoke = LambdaInvokeFunctionOperator(
        task_id="invoke", function_name="probe", payload='{"run": "{{ run_id }}", "from": "{{ ti.task_id }}"}'
    )
    create >> active >> invoke
