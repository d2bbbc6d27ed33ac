"""What a shop sold, with helpers from include/ and an operator from plugins/."""

import os
from datetime import datetime
from pathlib import Path

import humanize
from airflow.sdk import dag, task
from include.prices import PRICES
from shop_operators import BasketOperator

CURRENCY = os.environ["SHOP_CURRENCY"]
SQL = Path(os.environ["AIRFLOW_HOME"]) / "include" / "sql"


@dag(start_date=datetime(2024, 1, 1), schedule=None, doc_md=f"{len(PRICES)} prices in {CURRENCY}")
def shop_report():
    basket = BasketOperator(task_id="basket", names=["bread", "coffee"])

    @task
    def write(amount: float) -> str:
        query = (SQL / "report.sql").read_text()
        return f"{humanize.intcomma(amount * 1000)} {os.environ['SHOP_CURRENCY']} {len(query) > 0}"

    write(basket.output)


shop_report()
