"""Branches, short circuits, and what is joined after them."""
from airflow.sdk import DAG, TaskGroup, task
from airflow.providers.standard.operators.empty import EmptyOperator

from steps import fail, ok

with DAG("branch_one_of_three", schedule=None):

    @task.branch
    def choose():
        return "b"

    ways = [ok(name) for name in "abc"]
    choose() >> ways
    for rule in ("all_success", "none_failed_min_one_success", "none_failed", "one_success", "all_done", "all_skipped"):
        ways >> EmptyOperator(task_id=f"join_{rule}", trigger_rule=rule)

with DAG("branch_to_join_directly", schedule=None):

    @task.branch
    def choose():
        return ["join"]

    chosen, left = choose(), ok("left")
    join = EmptyOperator(task_id="join", trigger_rule="none_failed_min_one_success")
    chosen >> [left, join]
    left >> join
    left >> ok("after_left")

with DAG("branch_nothing", schedule=None):

    @task.branch
    def choose():
        return None

    ways = [ok(name) for name in "ab"]
    choose() >> ways
    ways >> EmptyOperator(task_id="join", trigger_rule="none_failed_min_one_success")
    ways >> EmptyOperator(task_id="always_there", trigger_rule="all_done")

with DAG("branch_into_group", schedule=None):

    @task.branch
    def choose():
        return "chosen"

    start = choose()
    with TaskGroup("chosen") as chosen:
        ok("a") >> ok("b")
        ok("c")
    with TaskGroup("other") as other:
        ok("a") >> ok("b")
    start >> [chosen, other]
    [chosen, other] >> EmptyOperator(task_id="join", trigger_rule="none_failed_min_one_success")

with DAG("branch_after_branch", schedule=None):

    @task.branch
    def first():
        return "second"

    @task.branch(task_id="second")
    def second():
        return "deep"

    outer, inner = first(), second()
    outer >> [inner, ok("beside")]
    inner >> [ok("deep"), ok("not_deep")]

with DAG("branch_to_a_failure", schedule=None):

    @task.branch
    def choose():
        return ["good", "bad"]

    good, bad, other = ok("good"), fail("bad"), ok("other")
    choose() >> [good, bad, other]
    good >> bad  # in this order, so that the joins see the same on every run
    for rule in ("none_failed_min_one_success", "one_success", "one_failed", "all_done", "none_skipped"):
        [good, bad, other] >> EmptyOperator(task_id=f"join_{rule}", trigger_rule=rule)

with DAG("branch_to_unknown_task", schedule=None):

    @task.branch
    def choose():
        return "nowhere"

    choose() >> [ok("a"), ok("b")]

with DAG("branch_that_fails", schedule=None):

    @task.branch
    def choose():
        raise ValueError("as planned")

    ways = [ok("a"), ok("b")]
    choose() >> ways
    ways >> EmptyOperator(task_id="join", trigger_rule="none_failed_min_one_success")

with DAG("short_circuit_closed", schedule=None):

    @task.short_circuit
    def gate():
        return False

    gate() >> ok("a") >> ok("b") >> EmptyOperator(task_id="rule_ignored", trigger_rule="all_done")
    ok("apart")

with DAG("short_circuit_respecting_rules", schedule=None):

    @task.short_circuit(ignore_downstream_trigger_rules=False)
    def gate():
        return False

    a = ok("a")
    gate() >> a >> ok("b")
    a >> EmptyOperator(task_id="rule_respected", trigger_rule="all_done")
    [a, ok("other")] >> EmptyOperator(task_id="join", trigger_rule="none_failed_min_one_success")

with DAG("short_circuit_open", schedule=None):

    @task.short_circuit
    def gate():
        return "anything true"

    gate() >> ok("a") >> ok("b")

with DAG("short_circuit_and_others", schedule=None):

    @task.short_circuit
    def gate():
        return []

    a = ok("a")
    other = ok("other")
    gate() >> a
    [a, other] >> EmptyOperator(task_id="join_of_both", trigger_rule="all_done")
    other >> EmptyOperator(task_id="join_of_other")

with DAG("run_if_and_skip_if", schedule=None):

    @task.run_if(lambda context: False)
    @task
    def never():
        pass

    @task.skip_if(lambda context: False)
    @task
    def surely():
        pass

    first, second = never(), surely()
    first >> second >> ok("after_skip")
    first >> EmptyOperator(task_id="none_failed", trigger_rule="none_failed")
