from datetime import datetime

from kubernetes.client import models as k8s

from airflow.sdk import DAG, task
from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.providers.cncf.kubernetes.secret import Secret

secret = Secret("env", "PASSWORD", "db", "password")
resources = k8s.V1ResourceRequirements(requests={"cpu": "500m"}, limits={"memory": "1Gi"})

with DAG("providers_kubernetes", schedule=None, start_date=datetime(2024, 1, 1)):
    pod = KubernetesPodOperator(
        task_id="pod",
        image="busybox:1",
        cmds=["sh", "-c"],
        arguments=["echo {{ ds }}"],
        secrets=[secret],
        container_resources=resources,
        env_vars=[k8s.V1EnvVar(name="A", value="1")],
        on_finish_action="delete_pod",
    )

    @task.kubernetes(image="python:3.12", namespace="jobs")
    def inside(x):
        return x

    @task.docker(image="python:3.12-slim")
    def contained():
        return 1

    @task(executor_config={"pod_override": k8s.V1Pod(spec=k8s.V1PodSpec(containers=[k8s.V1Container(name="base")]))})
    def overridden():
        return 1

    pod >> [inside(contained()), overridden()]
