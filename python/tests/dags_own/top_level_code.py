"""Files that print, log, read the environment and define classes while they load."""
import logging
import os
import sys

from airflow.configuration import conf
from airflow.sdk import DAG, get_parsing_context
from airflow.providers.standard.operators.empty import EmptyOperator

print("loading")
print("to stderr", file=sys.stderr)
logging.getLogger(__name__).warning("a warning")
assert get_parsing_context().dag_id is None
ENV = os.environ.get("DEPLOYMENT", "dev")
with DAG(f"top_level_{ENV}", schedule=None, max_active_runs=conf.getint("core", "max_active_runs_per_dag")):
    EmptyOperator(task_id="a")

if __name__ == "__main__":
    raise RuntimeError("never as a script")
