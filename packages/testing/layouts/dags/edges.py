"""Every way to say what comes after what."""
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, TaskGroup, XComArg, chain, chain_linear, cross_downstream, task

with DAG("edges", schedule=None) as dag:

    def new(name):
        return EmptyOperator(task_id=name)

    chain(new("a1"), [new("a2"), new("a3")], [new("a4"), new("a5")], new("a6"))
    chain_linear(new("b1"), [new("b2"), new("b3")], [new("b4"), new("b5")], new("b6"))
    cross_downstream([new("c1"), new("c2")], [new("c3"), new("c4")])
    [new("d1"), new("d2")] << new("d3")
    with TaskGroup("g1") as g1:
        new("e1") >> new("e2")
    with TaskGroup("g2") as g2:
        new("e3")
        new("e4")
    g1 >> g2
    new("f1") >> g1
    g2 << new("f2")
    new("h1").set_downstream([new("h2"), new("h3")])

    @task
    def gives():
        return {"x": 1}

    @task
    def takes(x, more=None): ...

    given = gives()
    takes(given["x"], more=[given, {"deep": given}])
    XComArg(dag.get_task("a1")) >> given
    pulled = EmptyOperator(task_id="pulled", doc=str(1))
    given >> pulled
