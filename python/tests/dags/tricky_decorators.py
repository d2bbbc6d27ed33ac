"""@task on unusual functions, reused across DAGs, stacked, with defaults and annotations."""
from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Dict, TypedDict

from airflow.sdk import DAG, dag, task


class Row(TypedDict):
    a: int


@task
def shared(x=1) -> int:
    return x


@task
def mapping() -> Mapping[str, int]:
    return {}


@task
def old_dict() -> Dict[str, Any]:
    return {}


@task
def typed() -> Row:
    return {"a": 1}


@task
def unresolvable() -> "NoSuchName":  # noqa: F821
    return 1


@task
async def coroutine():
    return 1


@task
def generator(n):
    yield from range(n)


def plain(x):
    """Plain docs"""
    return x


for index in range(2):
    with DAG(f"tricky_decorators_{index}", schedule=None):
        shared(shared(index))
        mapping() >> [old_dict(), typed()]
        unresolvable() >> coroutine() >> generator(3)
        task(plain)(1)
        task(task_id="given", retries=3)(plain)(2)
        task.python(plain, task_id="keyword")(3)
        shared.override(task_id="o", owner="x", params={"q": 1}, doc_md="own docs").override(retries=9)(x=4)


@dag("tricky_by_name", start_date=datetime(2024, 1, 1), schedule="@hourly", default_args={"owner": "o"}, doc_md="given")
def function(a=1, b="x"):
    """Not used, doc_md is given."""
    shared(a) >> task(plain)(b)


function()
