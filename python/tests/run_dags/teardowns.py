"""Setups and teardowns: what still runs, and what counts for the run."""
from airflow.sdk import DAG, TaskGroup, task
from airflow.providers.standard.operators.empty import EmptyOperator

from steps import fail, ok, skip

MAKE = {"ok": ok, "fail": fail, "skip": skip}

# Every end of the setup with every end of the work.
for setup_end in MAKE:
    for work_end in MAKE:
        with DAG(f"teardown_{setup_end}_{work_end}", schedule=None):
            opened = MAKE[setup_end]("open").as_setup()
            work = MAKE[work_end]("work")
            closed = ok("close").as_teardown(setups=opened)
            opened >> work >> closed
            work >> ok("after_work")

with DAG("teardown_fails_quietly", schedule=None):
    opened = ok("open").as_setup()
    opened >> ok("work") >> fail("close").as_teardown(setups=opened)

with DAG("teardown_fails_the_run", schedule=None):
    opened = ok("open").as_setup()
    opened >> ok("work") >> fail("close").as_teardown(setups=opened, on_failure_fail_dagrun=True)

with DAG("teardown_alone", schedule=None):
    ok("work") >> fail("close").as_teardown()

with DAG("teardown_only_failing", schedule=None):
    fail("close").as_teardown()

with DAG("two_setups_one_teardown", schedule=None):
    good, bad = ok("good").as_setup(), fail("bad").as_setup()
    work = ok("work")
    [good, bad] >> work >> ok("close").as_teardown(setups=[good, bad])

with DAG("two_setups_all_skipped", schedule=None):
    first, second = skip("first").as_setup(), skip("second").as_setup()
    work = ok("work")
    [first, second] >> work >> ok("close").as_teardown(setups=[first, second])

with DAG("setup_skipped_and_failed", schedule=None):
    first, second = skip("first").as_setup(), fail("second").as_setup()
    first >> ok("work") >> ok("close").as_teardown(setups=[first, second])

with DAG("setup_in_scope_from_afar", schedule=None):
    opened = fail("open").as_setup()
    close = ok("close").as_teardown(setups=opened)
    # The rule alone would let the last one run; its setup does not.
    opened >> ok("a") >> ok("b", trigger_rule="all_done") >> close

with DAG("teardown_in_group", schedule=None):
    with TaskGroup("g") as group:
        opened = ok("open").as_setup()
        opened >> ok("work") >> fail("close").as_teardown(setups=opened)
    group >> ok("after_group")

with DAG("teardown_after_branch", schedule=None):

    @task.branch
    def choose():
        return "a"

    opened = ok("open").as_setup()
    chosen, a, b = choose(), ok("a"), ok("b")
    close = ok("close").as_teardown(setups=opened)
    opened >> chosen >> [a, b] >> close

with DAG("teardown_after_short_circuit", schedule=None):

    @task.short_circuit
    def gate():
        return False

    opened = ok("open").as_setup()
    opened >> gate() >> ok("work") >> ok("close").as_teardown(setups=opened)

with DAG("setup_without_teardown", schedule=None):
    fail("open").as_setup() >> ok("work") >> EmptyOperator(task_id="end", trigger_rule="all_done")

with DAG("teardown_fails_fast", schedule=None, fail_fast=True):
    opened = ok("open").as_setup()
    opened >> fail("work") >> ok("more") >> ok("close").as_teardown(setups=opened)
