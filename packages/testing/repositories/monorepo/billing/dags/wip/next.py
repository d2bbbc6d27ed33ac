# An airflow dag that nobody must load.
raise RuntimeError("work in progress")
