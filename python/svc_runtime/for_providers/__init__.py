"""Parts of Airflow that provider packages use and DAG files seldom do. Which path gives which of them: ../provider_import_paths.py."""
