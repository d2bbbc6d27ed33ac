"""Groups without tasks between others: loops over settings make them."""
from airflow.sdk import DAG, TaskGroup, chain, task_group
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("empty_groups", schedule=None):

    def step(name):
        return EmptyOperator(task_id=name)

    def empty(name):
        with TaskGroup(name) as group:
            pass
        return group

    step("a") >> empty("between") >> step("b")
    [step("c1"), step("c2")] >> empty("of_lists") >> [step("d1"), step("d2")]
    chain(step("e"), empty("first"), empty("second"), step("f"))

    with TaskGroup("p") as p:
        step("x") >> step("y")
    with TaskGroup("q") as q:
        step("z") >> step("w")
    p >> empty("of_groups") >> q

    with TaskGroup("outer") as outer:
        empty("inner")
    step("i") >> outer >> step("j")

    with TaskGroup("around") as around:
        step("k") >> empty("hole") >> step("l")
    step("m") >> around >> step("n")

    late = empty("late")
    step("o") >> late >> step("r")
    step("s") >> late
    late >> step("t")

    @task_group
    def nothing():
        pass

    step("u") >> nothing() >> step("v")

    # No edges, on Airflow as here: the group is named after what follows it.
    step("aa") << empty("unseen") << step("bb")
