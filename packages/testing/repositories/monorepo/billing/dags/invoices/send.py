from datetime import datetime

from airflow.sdk import dag, task
from invoices.numbers import FIRST


@dag(start_date=datetime(2024, 1, 1), schedule=None)
def send_invoices():
    @task
    def send():
        return FIRST

    send()


send_invoices()
