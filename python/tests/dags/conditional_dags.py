"""Structure that depends on ordinary Python: conditions, comprehensions, helper classes."""
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from airflow.sdk import DAG, task
from airflow.providers.standard.operators.python import PythonOperator


class Kind(str, Enum):
    FULL = "full"
    DELTA = "delta"


@dataclass
class Source:
    name: str
    kind: Kind
    options: dict = field(default_factory=dict)


SOURCES = [Source("a", Kind.FULL), Source("b", Kind.DELTA, {"since": 1}), Source("c", Kind.FULL)]


class Loader:
    def __init__(self, source):
        self.source = source

    def run(self, **context):
        return self.source.name


with DAG("conditional_dags", schedule=None, start_date=datetime(2024, 1, 1)):
    full = [
        PythonOperator(task_id=f"load_{s.name}", python_callable=Loader(s).run, op_kwargs={"kind": s.kind, "source": s})
        for s in SOURCES
        if s.kind is Kind.FULL
    ]

    @task
    def finish():
        pass

    full >> finish()
