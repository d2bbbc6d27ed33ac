"""A DAG object passed to every task."""
from datetime import datetime

from airflow.models import DAG
from airflow.operators.python import PythonOperator

dag = DAG("as_object", start_date=datetime(2024, 1, 1), schedule=None)


def hello(**context):
    print(context["ds"])


first = PythonOperator(task_id="first", python_callable=hello, dag=dag)
second = PythonOperator(task_id="second", python_callable=hello, op_kwargs={"x": 1}, dag=dag)
first.set_downstream(second)

late = DAG("task_assigned_later", schedule=None)
assigned = PythonOperator(task_id="assigned", python_callable=hello)
assigned.dag = late
adopted = PythonOperator(task_id="adopted", python_callable=hello)
assigned >> adopted
