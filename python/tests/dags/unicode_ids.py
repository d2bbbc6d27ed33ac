from airflow.sdk import DAG, task
from airflow.providers.standard.operators.bash import BashOperator

with DAG("unicode.dag-id", dag_display_name="Überblick 🚀", description="größer ≥ 5", schedule=None):
    BashOperator(task_id="größe", bash_command="echo '𝄞 ünïcode'", task_display_name="Größe 📏")
    BashOperator(task_id="a.b-c_d", bash_command="echo \x07")
