"""Loads tables, builds a model of each with a command, and writes a report.

The table names come from include/, the amounts from a library of the team, the macro from a plugin, and the stage from a
variable that is read while the file is loaded.
"""

import csv
import json
import sqlite3
from datetime import datetime

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, Variable, task
from shop_money import cents

with open("include/tables.json") as file:
    TABLES = json.load(file)

STAGE = Variable.get("shop_stage", default="test")

with DAG(
    "moving_in_elt",
    schedule="0 5 * * *",
    start_date=datetime(2026, 1, 1),
    tags=["example", "shop", STAGE],
    doc_md=__doc__,
    default_args={"owner": "shop"},
):

    @task
    def sources() -> list[dict]:
        return [{"table": table, "path": path} for table, path in TABLES.items()]

    @task(map_index_template="{{ table }}")
    def load(table: str, path: str) -> dict:
        with open(path) as file:
            rows = [(int(row["id"]), cents(row["amount"])) for row in csv.DictReader(file)]
        database = sqlite3.connect(":memory:")
        database.execute("create table loaded (id integer primary key, cents integer)")
        database.executemany("insert into loaded values (?, ?)", rows)
        ((total,),) = database.execute("select sum(cents) from loaded")
        return {"table": table, "rows": len(rows), "cents": total}

    models = [
        BashOperator(
            task_id=f"model_{name}",
            bash_command=f"test -s include/models/{name}.sql && echo built {name} of {STAGE}",
            cwd=".",
        )
        for name in ("revenue", "refunds")
    ]

    @task
    def total(loaded) -> int:
        found = {each["table"]: each["cents"] for each in loaded}
        return found["orders"] - found["returns"]

    report = BashOperator(
        task_id="report",
        bash_command="echo revenue: {{ macros.shop.euros(ti.xcom_pull(task_ids='total')) }} EUR",
    )

    loaded = load.expand_kwargs(sources())
    loaded >> models >> report
    total(loaded) >> report
