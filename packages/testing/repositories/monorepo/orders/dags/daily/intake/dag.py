from datetime import datetime

from airflow.sdk import dag, task
from pricing import VAT
from shared.naming import task_name


@dag(start_date=datetime(2024, 1, 1), schedule=None)
def orders_intake():
    @task(task_id=task_name("orders"))
    def take():
        import humanize

        return humanize.apnumber(round(VAT * 100))

    take()


orders_intake()
