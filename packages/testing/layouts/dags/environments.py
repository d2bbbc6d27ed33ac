"""Tasks in other environments, and Bash as functions."""
from airflow.providers.standard.operators.python import ExternalPythonOperator, PythonVirtualenvOperator
from airflow.sdk import DAG, task


def body(a): ...


with DAG("environments", schedule=None, template_searchpath="/tmp"):

    @task.virtualenv(requirements=["colorama==0.4.0"], system_site_packages=False, retries=1)
    def in_venv(): ...

    @task.external_python(python="/usr/bin/python3")
    def outside(): ...

    @task.bash(env={"A": "1"}, append_env=True)
    def shell():
        return "echo {{ ds }}"

    classic = PythonVirtualenvOperator(task_id="classic", python_callable=body, op_args=[1], requirements="x==1")
    external = ExternalPythonOperator(task_id="external", python="/usr/bin/python3", python_callable=body, op_args=[1])
    in_venv() >> outside() >> shell() >> [classic, external]
