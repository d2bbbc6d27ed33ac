# An airflow dag that nobody must load.
raise RuntimeError("old")
