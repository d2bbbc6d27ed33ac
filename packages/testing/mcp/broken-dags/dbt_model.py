"""A model that reads a column its source no longer has. The variable `dbt` names the program."""

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, task

FILES = {
    "dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\nmodel-paths: [models]\n",
    "profiles.yml": "shop:\n  target: dev\n  outputs:\n    dev:\n      type: duckdb\n      path: shop.duckdb\n",
    "models/raw_orders.sql": "select 1 as id, 10.0 as total\n",
    "models/staging/stg_orders.sql": "select id, ordered_at, total from {{ ref('raw_orders') }}\n",
    "models/orders_by_day.sql": "select ordered_at, sum(total) as total from {{ ref('stg_orders') }} group by 1\n",
}

with DAG("dbt_model", schedule=None):

    @task
    def check_out() -> str:
        import tempfile
        from pathlib import Path

        folder = Path(tempfile.mkdtemp(prefix="shop-"))
        for name, text in FILES.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return str(folder)

    build = BashOperator(
        task_id="build",
        bash_command=(
            "cd {{ ti.xcom_pull(task_ids='check_out') }} && "
            "DBT_SEND_ANONYMOUS_USAGE_STATS=false {{ var.value.dbt }} run --profiles-dir ."
        ),
    )

    @task
    def publish() -> None:
        print("published")

    check_out() >> build >> publish()
