"""All ways to write an edge."""
from airflow.sdk import DAG, Label, chain, chain_linear, cross_downstream
from airflow.providers.standard.operators.empty import EmptyOperator


def e(name):
    return EmptyOperator(task_id=name)


with DAG("dependencies", schedule=None) as dag:
    a, b, c, d = e("a"), e("b"), e("c"), e("d")
    a >> [b, c] >> d
    x, y, z = e("x"), e("y"), e("z")
    x << y << z
    [x, a] >> e("list_left")
    e("list_right") << [b, c]
    l1, l2, l3, l4, l5, l6 = (e(f"l{i}") for i in range(1, 7))
    chain(l1, [l2, l3], [l4, l5], l6)
    cross_downstream([l1, l2], [e("cr1"), e("cr2")])
    chain_linear(e("cl0"), [e("cl1"), e("cl2")], [e("cl3"), e("cl4"), e("cl5")], e("cl6"))
    s1, s2 = e("s1"), e("s2")
    s2.set_upstream(s1)
    s2.set_downstream([e("s3"), e("s4")])
    dag.set_dependency("s1", "s4")
