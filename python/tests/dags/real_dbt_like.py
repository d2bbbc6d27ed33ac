"""A model graph read from a manifest: one task per model, groups per schema."""
import json
from datetime import datetime

from airflow.sdk import DAG, TaskGroup
from airflow.providers.standard.operators.bash import BashOperator

MANIFEST = json.loads(
    """{"stg.orders": [], "stg.users": [], "core.fct_orders": ["stg.orders", "stg.users"],
        "core.dim_users": ["stg.users"], "marts.revenue": ["core.fct_orders", "core.dim_users"]}"""
)

with DAG("real_dbt_like", schedule="0 4 * * *", start_date=datetime(2024, 1, 1), catchup=False):
    groups, tasks = {}, {}
    for model in MANIFEST:
        schema, name = model.split(".")
        if schema not in groups:
            groups[schema] = TaskGroup(schema)
        with groups[schema]:
            run = BashOperator(task_id=f"{name}.run", bash_command=f"dbt run -s {name}")
            test = BashOperator(task_id=f"{name}.test", bash_command=f"dbt test -s {name}")
            run >> test
            tasks[model] = (run, test)
    for model, parents in MANIFEST.items():
        for parent in parents:
            tasks[parent][1] >> tasks[model][0]
