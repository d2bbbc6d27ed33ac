from airflow.sdk import DAG, task
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.python import PythonOperator

with DAG("mapping_expand", schedule=None):

    @task
    def numbers():
        return [1, 2, 3]

    @task
    def add(x, y):
        return x + y

    @task(map_index_template="{{ my_name }}", max_active_tis_per_dagrun=2)
    def show(value):
        print(value)

    @task
    def total(values):
        return sum(values)

    literal = add.partial(y=10).expand(x=[1, 2, 3])
    cross = add.expand(y=[10, 20], x=numbers())
    show.expand(value={"k1": 1, "k2": 2})
    total(literal)
    total(cross)
    BashOperator.partial(task_id="bash", env={"A": "1"}, retries=3, pool="p").expand(bash_command=["echo 1", "echo 2"])
    PythonOperator.partial(task_id="py", python_callable=print).expand(op_args=numbers().map(lambda x: [x]))
    BashOperator.partial(task_id="env", bash_command="env").expand(env=[{"A": "1"}, {"A": "2"}])
