"""Orders of a day, with the TaskFlow API."""

from __future__ import annotations

from datetime import timedelta

import pendulum

from airflow.sdk import Param, Variable, dag, get_current_context, task


@dag(
    schedule="@daily",
    start_date=pendulum.datetime(2026, 1, 1, tz="UTC"),
    catchup=False,
    default_args={"owner": "shop", "retries": 1, "retry_delay": timedelta(seconds=0)},
    params={"limit": Param(3, type="integer", minimum=1)},
    tags=["shop"],
    doc_md=__doc__,
)
def orders():
    @task
    def extract(params=None, ds=None):
        print(f"extracting the orders of {ds}")
        return [{"id": number, "cents": number * 100} for number in range(1, params["limit"] + 1)]

    @task
    def convert(order):
        return order["cents"] / 100

    @task(multiple_outputs=True)
    def total(values):
        return {"sum": sum(values), "currency": Variable.get("currency", default="EUR")}

    @task
    def report(sum_of_day, currency):
        context = get_current_context()
        if sum_of_day > 1000:
            raise ValueError(f"{sum_of_day} {currency} is not plausible")
        return {"run": context["run_id"], "sum": sum_of_day, "currency": currency}

    found = total(convert.expand(order=extract()))
    report(found["sum"], found["currency"])


built = orders()

if __name__ == "__main__":
    built.test()
