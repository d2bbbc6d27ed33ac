from datetime import datetime

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

with DAG("nightly_export", start_date=datetime(2024, 1, 1), schedule="@daily", catchup=False):
    BashOperator(task_id="export", bash_command='test -d "$AIRFLOW_HOME/include" && test -d "$AIRFLOW__CORE__DAGS_FOLDER/exports"')
