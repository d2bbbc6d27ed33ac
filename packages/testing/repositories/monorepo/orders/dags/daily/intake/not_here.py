# An airflow dag that nobody must load.
raise RuntimeError("left out by the folder itself")
