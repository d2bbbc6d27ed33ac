"""A long chain and a wide fan; ordering must not depend on recursion."""
from airflow.sdk import DAG, chain
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("chain_long", schedule=None):
    steps = [EmptyOperator(task_id=f"step_{i:03d}") for i in range(200)]
    chain(*steps)
    steps[0] >> [EmptyOperator(task_id=f"fan_{i:02d}") for i in range(50)] >> steps[-1]
