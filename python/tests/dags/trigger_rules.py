from airflow.sdk import DAG, TriggerRule
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("trigger_rules", schedule=None):
    start = EmptyOperator(task_id="start")
    for rule in [
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
    ]:
        start >> EmptyOperator(task_id=f"when_{rule}", trigger_rule=rule)
    start >> EmptyOperator(task_id="by_enum", trigger_rule=TriggerRule.ONE_FAILED)
