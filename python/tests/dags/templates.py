"""Templated fields, files, macros, filters, search path."""
import os
from datetime import datetime

from airflow.sdk import DAG
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.python import PythonOperator

HERE = os.path.dirname(os.path.abspath(__file__))

with DAG(
    "templates",
    schedule="@daily",
    start_date=datetime(2024, 1, 1),
    template_searchpath=[os.path.join(HERE, "templates")],
    user_defined_macros={"company": "acme", "double": lambda x: x * 2},
    user_defined_filters={"shout": lambda text: text.upper()},
    jinja_environment_kwargs={"trim_blocks": True},
):
    BashOperator(task_id="inline", bash_command="echo {{ company }} {{ ds | shout }} {{ var.value.region }}")
    BashOperator(task_id="from_file", bash_command="script.sh", env={"X": "{{ conn.warehouse.host }}"})
    BashOperator(task_id="not_a_file", bash_command="/opt/run.sh ", cwd="{{ var.json.paths.home }}")
    PythonOperator(
        task_id="dict",
        python_callable=print,
        templates_dict={"query": "SELECT '{{ ds }}'"},
        templates_exts=[".sql"],
    )
