"""The decorators of DAG files: those of tasks stand on the standard operators, so they are above `airflow`."""
