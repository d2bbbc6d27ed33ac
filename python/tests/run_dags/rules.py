"""One DAG per trigger rule: the rule after every mix of ends, in a fixed order.

The first tasks run one after the other, whatever their ends, so that it is certain which end a rule sees first.
"""
from airflow.sdk import DAG
from airflow.providers.standard.operators.empty import EmptyOperator

from steps import fail, ok, skip

RULES = [
    "all_success",
    "all_failed",
    "all_done",
    "all_done_min_one_success",
    "all_done_setup_success",
    "one_success",
    "one_failed",
    "one_done",
    "none_failed",
    "none_skipped",
    "always",
    "none_failed_min_one_success",
    "all_skipped",
]

MIXES = [
    "ok1",
    "fail1",
    "skip1",
    "lost",
    "ok1 ok2",
    "fail1 fail2",
    "skip1 skip2",
    "ok1 fail1",
    "fail1 ok2",
    "ok1 skip1",
    "skip1 ok2",
    "fail1 skip1",
    "skip1 fail2",
    "ok1 lost",
    "lost ok2",
    "lost skip1",
    "skip2 lost",
    "fail1 lost",
    "ok1 fail1 skip1",
    "fail1 skip1 ok2",
    "skip1 ok2 fail2",
    "ok1 lost skip1",
    "ok1 fail1 lost skip1 ok2 fail2 skip2",
]

for rule in RULES:
    with DAG(f"rule_{rule}", schedule=None):
        late = {"trigger_rule": "all_done"}
        order = [ok("ok1"), fail("fail1"), skip("skip1", **late), ok("ok2", **late), fail("fail2", **late)]
        order.append(skip("skip2", **late))
        order[0] >> order[1] >> order[2] >> order[3] >> order[4] >> order[5]
        tasks = {task.task_id: task for task in order}
        # Never tried, because what it needs has failed.
        tasks["lost"] = EmptyOperator(task_id="lost")
        tasks["fail1"] >> tasks["lost"]
        for mix in MIXES:
            join = EmptyOperator(task_id="after_" + mix.replace(" ", "_"), trigger_rule=rule)
            [tasks[name] for name in mix.split()] >> join
            # What a verdict means for those further down.
            if mix in ("ok1 fail1", "fail1 skip1", "skip1 ok2"):
                join >> EmptyOperator(task_id="then_" + mix.replace(" ", "_"))
