"""Extract, transform, load, every morning: values travel between tasks, the load is retried, a bad day is visible."""

from datetime import datetime, timedelta

from airflow.sdk import DAG, task

with DAG(
    "daily_sales",
    schedule="30 6 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    default_args={"retries": 2, "retry_delay": timedelta(seconds=10)},
    tags=["example", "etl"],
    doc_md=__doc__,
) as dag:

    @task
    def extract(ds: str | None = None) -> list[dict]:
        """Makes the same sales for the same day, so that a run can be repeated."""
        import random

        numbers = random.Random(ds)
        return [
            {"product": product, "amount": numbers.randint(1, 20), "price": price}
            for product, price in [("coffee", 3.2), ("tea", 2.8), ("cake", 4.5)]
        ]

    @task(multiple_outputs=True)
    def transform(sales: list[dict]) -> dict:
        revenue = {sale["product"]: round(sale["amount"] * sale["price"], 2) for sale in sales}
        return {"revenue": revenue, "total": round(sum(revenue.values()), 2)}

    @task
    def load(revenue: dict, total: float, ds: str | None = None) -> None:
        for product, amount in sorted(revenue.items()):
            print(f"{ds}  {product:<8} {amount:>8.2f}")
        print(f"{ds}  {'total':<8} {total:>8.2f}")

    result = transform(extract())
    load(result["revenue"], result["total"])
