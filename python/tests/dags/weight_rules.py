from airflow.sdk import DAG, WeightRule
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("weight_rules", schedule=None):
    a = EmptyOperator(task_id="a", priority_weight=2)
    b = EmptyOperator(task_id="b", weight_rule=WeightRule.UPSTREAM, priority_weight=3)
    c = EmptyOperator(task_id="c", weight_rule="absolute", priority_weight=100)
    a >> b >> c
