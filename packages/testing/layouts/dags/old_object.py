"""DAG as an argument, set_upstream, and a list of tasks on both sides."""
from datetime import datetime

from airflow.models import DAG
from airflow.models.baseoperator import chain, cross_downstream
from airflow.operators.bash import BashOperator
from airflow.operators.empty import EmptyOperator

dag = DAG("old_object", schedule="*/15 * * * *", start_date=datetime(2026, 1, 1), catchup=False, max_active_tasks=4)
a = BashOperator(task_id="a", bash_command="x", dag=dag)
b = BashOperator(task_id="b", bash_command="x", dag=dag, depends_on_past=True, wait_for_downstream=True)
b.set_upstream(a)
a.set_downstream(BashOperator(task_id="c", bash_command="x", dag=dag, retries=5))
firsts = [EmptyOperator(task_id=f"first_{n}", dag=dag) for n in range(2)]
seconds = [EmptyOperator(task_id=f"second_{n}", dag=dag) for n in range(2)]
cross_downstream(firsts, seconds)
chain(b, [EmptyOperator(task_id="d", dag=dag), EmptyOperator(task_id="e", dag=dag)], EmptyOperator(task_id="f", dag=dag))
