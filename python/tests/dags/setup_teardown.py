"""Setup and teardown by method, decorator and context manager."""
from airflow.sdk import DAG, setup, task, teardown
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("setup_teardown", schedule=None):
    create = EmptyOperator(task_id="create").as_setup()
    work = EmptyOperator(task_id="work")
    delete = EmptyOperator(task_id="delete").as_teardown(setups=create, on_failure_fail_dagrun=True)
    create >> work >> delete

    @setup
    def open_cluster():
        return "id"

    @teardown
    def close_cluster(cluster):
        print(cluster)

    @task
    def query(cluster):
        print(cluster)

    cluster = open_cluster()
    query(cluster) >> close_cluster(cluster)

    @setup
    @task
    def s2():
        pass

    @teardown(on_failure_fail_dagrun=True)
    @task
    def t2():
        pass

    with s2() >> t2():
        a = EmptyOperator(task_id="inside_a")
        b = EmptyOperator(task_id="inside_b")
        a >> b
        EmptyOperator(task_id="inside_c")

with DAG("setup_teardown_scopes", schedule=None):
    opened = EmptyOperator(task_id="opened").as_setup()
    with EmptyOperator(task_id="closed").as_teardown(setups=opened):
        first, second = EmptyOperator(task_id="first"), EmptyOperator(task_id="second")
        first >> second
        inner = EmptyOperator(task_id="inner_setup").as_setup()
        inner >> EmptyOperator(task_id="inner_work") >> EmptyOperator(task_id="inner_end").as_teardown(setups=inner)
        EmptyOperator(task_id="alone")

with DAG("setup_teardown_scope", schedule=None):
    early, late = EmptyOperator(task_id="early"), EmptyOperator(task_id="late")

    @teardown
    def shut():
        pass

    with s2() >> shut() as scope:
        scope.add_task(early)
        scope.add_task(query.override(task_id="made_here")(1))
        EmptyOperator(task_id="inside")

    close = EmptyOperator(task_id="close").as_teardown(setups=EmptyOperator(task_id="open").as_setup())
    with close as scope:
        scope.add_task(late)
