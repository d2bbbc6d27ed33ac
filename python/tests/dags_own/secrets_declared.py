"""Connections and variables in every place where they can be declared."""
from airflow.sdk import DAG, BaseHook, Connection, Variable, task
from airflow.providers.postgres.hooks.postgres import PostgresHook
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.sensors.filesystem import FileSensor

FLAG = Variable.get("feature_flag", default="off")

with DAG("secrets_declared", schedule=None):
    BashOperator(
        task_id="templates",
        bash_command="echo {{ var.value.v_attr }} {{ var.json.v_json.key }} {{ var.value.get('v_get', 'x') }} {{ conn.c_attr.host }} {{ conn.get('c_get').login }}",
        env={"X": "{{ var.value.v_env }}"},
    )
    FileSensor(task_id="argument", filepath="x", fs_conn_id="c_argument")

    @task
    def body():
        Variable.get("v_body")
        BaseHook.get_connection("c_hook")
        Connection.get("c_conn")
        PostgresHook(postgres_conn_id="c_keyword")

    body()
