"""Corners of groups: empty ones, groups as objects, teardown inside, edges to self-made lists, collisions."""
from airflow.sdk import DAG, Label, TaskGroup, chain, chain_linear, cross_downstream, task, task_group
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("tricky_groups", schedule=None) as dag:
    outside = TaskGroup("outside")
    EmptyOperator(task_id="in_outside", task_group=outside)
    also = EmptyOperator(task_id="also", task_group=outside)

    @task_group
    def repeated():
        EmptyOperator(task_id="x") >> EmptyOperator(task_id="y")

    a, b, c = repeated(), repeated(), repeated()
    chain(a, [b, c], also)

    @task_group(group_id="with_value")
    def with_value(n):
        @task
        def inner(v):
            return v

        @task
        def leaf(v):
            return v

        first = inner(n)
        return leaf(first)

    result = with_value(3)
    with_value.override(group_id="second_value")(result)

    with TaskGroup("l1") as l1:
        with TaskGroup("l2") as l2:
            with TaskGroup("l3") as l3:
                deep = EmptyOperator(task_id="deep")
        side = EmptyOperator(task_id="side")
        l2 >> side
    result >> l1
    deep >> EmptyOperator(task_id="after_deep")
    chain_linear([EmptyOperator(task_id="p"), EmptyOperator(task_id="q")], l1, EmptyOperator(task_id="r"))
    cross_downstream([also, deep], [EmptyOperator(task_id="m"), EmptyOperator(task_id="n")])
