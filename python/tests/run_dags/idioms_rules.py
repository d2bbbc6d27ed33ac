"""Rules that count upstream instances in and after mapped groups, and values of nothing at all."""
from airflow.exceptions import AirflowSkipException
from airflow.sdk import DAG, task, task_group
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.empty import EmptyOperator

VALUES = ["values"]
RULES = (
    "all_success all_failed all_done one_success one_failed one_done none_failed none_failed_min_one_success none_skipped "
    "all_skipped always all_done_min_one_success all_done_setup_success"
).split()
OF_ALL_ITEMS = ("always", "all_done_min_one_success", "none_failed_min_one_success")


@task
def items(*values):
    return list(values)


@task
def end_as(n):
    if n == 0:
        raise AirflowSkipException
    if n < 0:
        raise ValueError("as planned")
    return n


@task
def whole(value):
    return value if value is None or isinstance(value, list) else list(value)


def rules_in_group(dag_id, given, wrap=None):
    with DAG(dag_id, tags=VALUES, schedule=None):

        @task_group
        def steps(n):
            first = end_as(n)
            for rule in RULES:
                # Over values, Airflow refuses the first, and judges the others once for all items before there are any.
                if wrap is None or rule not in OF_ALL_ITEMS:
                    EmptyOperator(task_id=rule, trigger_rule=rule) << first

        steps.expand(n=wrap(given) if wrap else given)


for name, values in {
    "ok_fail": [1, -1],
    "fail_ok": [-1, 1],
    "all_three": [1, 0, -1],
    "all_skip": [0, 0],
}.items():
    rules_in_group(f"idiom_rules_{name}", values)
rules_in_group("idiom_rules_xcom", (1, 0, -1), lambda given: items(*given))

with DAG("idiom_rules_outside", tags=VALUES, schedule=None):
    # Upstream tasks outside the group, and two tasks inside.
    before, bad = end_as(1), end_as.override(task_id="bad")(-1)

    @task_group
    def steps(n):
        first = end_as(n)
        second = end_as.override(task_id="second")(n)
        for rule in RULES:
            EmptyOperator(task_id=rule, trigger_rule=rule) << [first, second, before]
            EmptyOperator(task_id=f"{rule}_bad", trigger_rule=rule) << [first, bad]

    steps.expand(n=[1, -1])

with DAG("idiom_rules_nested", tags=VALUES, schedule=None):

    @task_group
    def outer(n):
        top = end_as(n)

        @task_group
        def inner():
            low = end_as.override(task_id="low", trigger_rule="all_done")(n)
            for rule in RULES:
                EmptyOperator(task_id=rule, trigger_rule=rule) << [low]
                EmptyOperator(task_id=f"{rule}_top", trigger_rule=rule) << [top]

        top >> inner()

    outer.expand(n=[1, -1])

with DAG("idiom_empty_outputs", tags=VALUES, schedule=None):

    @task
    def plus(n):
        return n + 1

    @task_group
    def steps(n):
        return plus(n)

    @task(trigger_rule="all_done")
    def look(value):
        return [repr(value) if not hasattr(value, "__len__") else list(value)]

    look(steps.expand(n=items()))
    look.override(task_id="of_mapped")(plus.override(task_id="mapped").expand(n=items.override(task_id="none")()))
    look.override(task_id="of_literal")(plus.override(task_id="literal").expand(n=[]))
    look.override(task_id="of_skipped")(end_as.override(task_id="skipped").expand(n=[0, 0]))
    look.override(task_id="of_group_skipped")(steps.override(group_id="skips").expand(n=items.override(task_id="not_there", trigger_rule="all_skipped")(end_as.override(task_id="fine")(1))))
    look.override(task_id="of_failed_group")(steps.override(group_id="fails").expand(n=["a", "b"]))
    look.override(task_id="of_literal_group")(steps.override(group_id="lit").expand(n=[]))

    look.override(task_id="of_mapped_single")(plus.override(task_id="mapped_single").expand(n=[1]))
    look.override(task_id="of_mapped_failed")(plus.override(task_id="mapped_failed").expand(n=["a"]))

    @task_group
    def two(n):
        @task_group
        def inner(m):
            return plus(m)

        return inner(n)

    look.override(task_id="of_nested")(two.expand(n=[1, 2]))

    @task
    def nothing(n):
        pass

    @task_group
    def pushes_nothing(n):
        return nothing.override(task_id="gives_none")(n)

    look.override(task_id="of_none_group")(pushes_nothing.expand(n=[1, 2]))

    look.override(task_id="of_nothing")(nothing.expand(n=[1, 2]))

    @task(trigger_rule="all_done")
    def pulled(ti=None):
        return [repr(ti.xcom_pull(task_ids="steps.plus")), repr(ti.xcom_pull(task_ids=["steps.plus"])), repr(ti.xcom_pull(task_ids="nothing"))]

    pulled() << [look.override(task_id="of_nothing_2")(nothing.override(task_id="nothing_2").expand(n=[1]))]

with DAG("idiom_key_twice", tags=VALUES, schedule=None):

    @task
    def use(a, b):
        return [a, b]

    @task
    def sets():
        return [{"a": 1, "b": 2}, {"a": 3}]

    use.partial(b=9).expand_kwargs([{"a": 1, "b": 2}, {"a": 3}])
    use.override(task_id="from_xcom").partial(b=9).expand_kwargs(sets())
    BashOperator.partial(task_id="bash", env={"A": "1"}, append_env=True).expand_kwargs([{"bash_command": "echo $A", "env": {"A": "2"}}, {"bash_command": "echo $A"}])
    BashOperator.partial(task_id="bash_lenient", env={"A": "1"}, append_env=True).expand_kwargs([{"bash_command": "echo $A", "env": {"A": "2"}}], strict=False)
    use.override(task_id="lenient").partial(b=9).expand_kwargs([{"a": 1, "b": 2}], strict=False)

    @task_group
    def grp(a, b):
        use.override(task_id="inside")(a, b)

    grp.partial(b=9).expand_kwargs([{"a": 1, "b": 2}, {"a": 3}])
