"""Modules of Airflow's task SDK that authors import by name. import_paths.py has their paths."""
