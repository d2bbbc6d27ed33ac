from datetime import datetime

from airflow.sdk import dag, task
from zip_helpers.words import greeting


@dag(start_date=datetime(2024, 1, 1), schedule=None)
def zipped_orders():
    @task
    def greet():
        from zip_helpers.words import greeting as again

        assert again("x") == "hello x"
        return greeting("orders")

    greet()


zipped_orders()
