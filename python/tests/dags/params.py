from datetime import datetime

from airflow.models.param import Param
from airflow.sdk import DAG
from airflow.providers.standard.operators.bash import BashOperator

with DAG(
    "params",
    schedule=None,
    start_date=datetime(2024, 1, 1),
    params={
        "plain": 3,
        "text": Param("hello", type="string", minLength=2, title="A text", description_md="**md**"),
        "maybe": Param(None, type=["null", "string"], description="May be empty"),
        "number": Param(5, type="integer", minimum=1, maximum=10),
        "choice": Param("a", enum=["a", "b"]),
        "required": Param(type="string"),
        "day": Param("2024-01-01", type="string", format="date"),
        "object": Param({"k": [1, 2.5, None, True]}, type="object"),
        "aaa_last": Param([1, 2], type="array"),
    },
    render_template_as_native_obj=True,
):
    BashOperator(task_id="use", bash_command="echo {{ params.plain }}", params={"plain": 4, "own": "x"})
