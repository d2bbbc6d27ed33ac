from airflow.sdk import DAG, Label, TaskGroup
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("labels", schedule=None):
    check = EmptyOperator(task_id="check")
    good, bad, other = (EmptyOperator(task_id=n) for n in ("good", "bad", "other"))
    check >> Label("all fine") >> good
    check >> Label("errors") >> [bad, other]
    [good, bad] >> Label("joined") >> EmptyOperator(task_id="join")
    EmptyOperator(task_id="right") << Label("backwards") << EmptyOperator(task_id="left")
    with TaskGroup("grp") as grp:
        EmptyOperator(task_id="g1")
        EmptyOperator(task_id="g2")
    other >> Label("into group") >> grp
    after = EmptyOperator(task_id="after")
    grp >> Label("out of group") >> after
    with TaskGroup("second") as second:
        EmptyOperator(task_id="s1") >> EmptyOperator(task_id="s2")
    grp >> Label("between groups") >> second
    EmptyOperator(task_id="tail") << Label("back to group") << second
    second << Label("from task") << after
