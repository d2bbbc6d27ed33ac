"""Assets as functions."""
from airflow.sdk import Asset, asset


@asset(schedule="@daily", uri="s3://shop/raw")
def raw_orders(self): ...


@asset(schedule=raw_orders)
def clean_orders(raw_orders): ...


@asset.multi(schedule=[clean_orders], outlets=[Asset("report_a"), Asset("report_b")])
def reports(): ...
