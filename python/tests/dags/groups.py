"""Nested groups with and without prefix, tooltips, colours, edges between all kinds of nodes."""
from airflow.sdk import DAG, TaskGroup
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("groups", schedule=None):
    start = EmptyOperator(task_id="start")
    with TaskGroup("section_1", tooltip="First section", ui_color="#abcdef", ui_fgcolor="#123456") as section_1:
        t1 = EmptyOperator(task_id="task_1")
        t2 = EmptyOperator(task_id="task_2")
        t3 = EmptyOperator(task_id="task_3")
        t1 >> [t2, t3]
    with TaskGroup("section_2", group_display_name="Second section") as section_2:
        with TaskGroup("inner") as inner:
            a = EmptyOperator(task_id="a")
            b = EmptyOperator(task_id="b")
        with TaskGroup("unprefixed", prefix_group_id=False) as unprefixed:
            EmptyOperator(task_id="bare")
            with TaskGroup("deep"):
                EmptyOperator(task_id="leaf")
        inner >> unprefixed
    end = EmptyOperator(task_id="end")
    start >> section_1 >> section_2 >> end
    start >> end
