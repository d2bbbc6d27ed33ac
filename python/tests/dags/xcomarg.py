"""XComArg in classic operators, with keys, in f-strings, and made by hand."""
from airflow.models.xcom_arg import XComArg
from airflow.sdk import DAG, task
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.python import PythonOperator

with DAG("xcomarg", schedule=None):
    produce = PythonOperator(task_id="produce", python_callable=lambda: {"k": 1})
    BashOperator(task_id="env", bash_command="echo $V", env={"V": produce.output["k"]})
    BashOperator(task_id="whole", bash_command=produce.output)
    BashOperator(task_id="text", bash_command=f"echo {produce.output}")
    PythonOperator(task_id="args", python_callable=print, op_args=[XComArg(produce), produce.output["z"]])

    @task
    def consume(x):
        return x

    consume(produce.output) >> BashOperator(task_id="end", bash_command="true")
