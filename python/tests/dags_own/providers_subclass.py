"""An author's subclass of a provider's class, and provider names used as plain values."""
from airflow.sdk import DAG
from airflow.providers.common.sql.hooks.handlers import fetch_all_handler
from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator
from airflow.providers.google.cloud.operators.dataproc import ClusterGenerator, DataprocCreateClusterOperator
from airflow.providers.http.operators.http import HttpOperator
from airflow.providers.snowflake.operators.snowflake import SnowflakeOperator


class Audited(SQLExecuteQueryOperator):
    template_fields = ("sql", "audit")

    def __init__(self, *, audit, **kwargs):
        super().__init__(**kwargs)
        self.audit = audit
        self.sql = f"-- {audit}\n{self.sql}"


with DAG("providers_subclass", schedule=None):
    Audited(task_id="audited", sql="SELECT 1", audit="{{ var.value.team }}", conn_id="wh", handler=fetch_all_handler)
    SnowflakeOperator(task_id="snow", sql="SELECT 1", snowflake_conn_id="sf")
    HttpOperator(task_id="http", endpoint="x", http_conn_id="api", response_filter=lambda r: r.json())
    DataprocCreateClusterOperator(task_id="cluster", cluster_config=ClusterGenerator(project_id="p", num_workers=2))
