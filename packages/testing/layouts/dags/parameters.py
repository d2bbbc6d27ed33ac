"""Params with schemas, native rendering, and macros of the DAG's own."""
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, Param, chain

with DAG(
    "parameters",
    schedule=None,
    params={"a": Param(1, type="integer", minimum=0), "b": "x", "c": Param(None, type=["null", "string"])},
    render_template_as_native_obj=True,
    user_defined_macros={"prefix": "shop", "half": lambda x: x / 2},
    user_defined_filters={"shout": str.upper},
    doc_md="# A DAG with *params*",
):
    chain(*[BashOperator(task_id=f"t{n}", bash_command="echo {{ params.a }} {{ prefix | shout }}") for n in range(4)])
