"""A task that starts runs of other DAGs and waits for them."""
from airflow.sdk import DAG
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator

from steps import fail, ok

with DAG("wait_target_fails", schedule=None):
    fail("a")

with DAG("wait_target_succeeds", schedule=None):
    ok("a")

with DAG("waits_for_runs", schedule=None):

    def waits(task_id, target, run, **kwargs):
        return TriggerDagRunOperator(
            task_id=task_id,
            trigger_dag_id=f"wait_target_{target}",
            trigger_run_id=f"{{{{ run_id }}}}_{run}",
            wait_for_completion=True,
            poke_interval=1,
            **kwargs,
        )

    first = waits("succeeds", "succeeds", 1)
    first >> EmptyOperator(task_id="after")
    first >> waits("again", "succeeds", 1)
    first >> waits("again_skips", "succeeds", 1, skip_when_already_exists=True)
    first >> waits("again_resets", "succeeds", 1, reset_dag_run=True)
    waits("fails", "fails", 2) >> EmptyOperator(task_id="after_failure")
    waits("failure_is_allowed", "fails", 3, allowed_states=["failed"], failed_states=["success"])
    waits("either_is_allowed", "fails", 4, allowed_states=["success", "failed"], failed_states=[])
    waits("success_is_not", "succeeds", 5, allowed_states=["failed"], failed_states=["success"])
    waits("nothing_there", "nowhere", 6)
    TriggerDagRunOperator.partial(task_id="mapped", wait_for_completion=True, poke_interval=1).expand(
        trigger_dag_id=["wait_target_succeeds", "wait_target_fails"]
    )
