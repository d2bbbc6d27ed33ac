"""Arguments of every type that needs an encoding."""
import datetime as dt
import decimal
import pathlib
import uuid
from zoneinfo import ZoneInfo

from airflow.sdk import DAG
from airflow.providers.standard.operators.python import PythonOperator

with DAG("values_of_all_kinds", schedule=None):
    PythonOperator(
        task_id="values",
        python_callable=print,
        op_kwargs={
            "none": None,
            "float": 1.5,
            "tiny": 1e-9,
            "big": 10**18,
            "negative_zero": -0.0,
            "date": dt.date(2024, 2, 29),
            "time": dt.time(1, 2, 3),
            "datetime": dt.datetime(2024, 1, 1, tzinfo=ZoneInfo("Europe/Rome")),
            "delta": dt.timedelta(days=1, microseconds=5),
            "tuple": (1, 2),
            "set": {"b", "a", "c"},
            "decimal": decimal.Decimal("1.10"),
            "path": pathlib.PurePosixPath("/a/b"),
            "uuid": uuid.UUID(int=1),
            "bytes": b"\x00\xff",
            "function": print,
            "class": dict,
            "int_keys": {1: "a", 2: "b"},
        },
    )
