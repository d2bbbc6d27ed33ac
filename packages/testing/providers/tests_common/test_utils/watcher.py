from airflow.sdk import TriggerRule, task


@task(trigger_rule=TriggerRule.ONE_FAILED, retries=0)
def watcher():
    raise RuntimeError("a task of the example failed")
