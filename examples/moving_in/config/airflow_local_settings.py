"""Rules for all DAGs of the team. A DAG that breaks one is an import error."""

from airflow.exceptions import AirflowClusterPolicyViolation


def dag_policy(dag):
    if not dag.tags:
        raise AirflowClusterPolicyViolation(f"{dag.dag_id} has no tags: name the team that owns it")


def task_policy(task):
    task.retries = max(task.retries or 0, 1)
