# An airflow dag that nobody must load.
raise RuntimeError("of a year gone by")
