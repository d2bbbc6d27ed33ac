from airflow.providers.standard.operators.empty import EmptyOperator  # noqa: F401
