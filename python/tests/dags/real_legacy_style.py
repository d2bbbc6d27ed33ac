# -*- coding: utf-8 -*-
"""A file in the style of 2019, as far as 3.2 still takes it."""
from datetime import datetime, timedelta

from airflow import DAG
from airflow.operators.bash import BashOperator
from airflow.operators.python import PythonOperator

default_args = {
    "owner": "airflow",
    "depends_on_past": False,
    "start_date": datetime(2019, 1, 1),
    "email": ["airflow@example.com"],
    "email_on_failure": False,
    "email_on_retry": False,
    "retries": 1,
    "retry_delay": timedelta(minutes=5),
    "provide_context": True,
}

dag = DAG("real_legacy_style", default_args=default_args, schedule=timedelta(days=1), catchup=False)

t1 = BashOperator(task_id="print_date", bash_command="date", dag=dag)
t2 = BashOperator(task_id="sleep", bash_command="sleep 5", retries=3, dag=dag)

templated_command = """
{% for i in range(5) %}
    echo "{{ ds }}"
    echo "{{ macros.ds_add(ds, 7)}}"
    echo "{{ params.my_param }}"
{% endfor %}
"""

t3 = BashOperator(
    task_id="templated", bash_command=templated_command, params={"my_param": "Parameter I passed in"}, dag=dag
)


def run(*args, **kwargs):
    print(kwargs["ds"])


t4 = PythonOperator(task_id="py", python_callable=run, op_args=[1, 2], dag=dag)

t2.set_upstream(t1)
t3.set_upstream(t1)
dag >> t4 if False else t3 >> t4
