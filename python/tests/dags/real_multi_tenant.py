"""One DAG per customer with a shared function and per-customer schedule and zone."""
import pendulum

from airflow.sdk import DAG, task

CUSTOMERS = {"acme": ("Europe/Berlin", "0 1 * * *"), "globex": ("America/New_York", "0 2 * * *"), "idle": ("UTC", None)}


def build(name, zone, schedule):
    with DAG(
        f"tenant_{name}", schedule=schedule, start_date=pendulum.datetime(2024, 1, 1, tz=zone), tags=["tenant", name]
    ) as dag:

        @task(task_id=f"sync_{name}")
        def sync(customer: str):
            print(customer)

        @task
        def bill(customer: str, *, dag_run=None):
            print(customer)

        sync(name) >> bill(name)
    return dag


for customer, (zone, schedule) in CUSTOMERS.items():
    build(customer, zone, schedule)
