"""Begins after assets of other DAGs."""
from airflow.sdk import DAG, Asset, task

with DAG("assets_in", schedule=(Asset("s3://shop/orders.parquet") & Asset("s3://shop/people")) | Asset("s3://all")):

    @task(inlets=[Asset("s3://shop/people")])
    def read(*, triggering_asset_events=None, inlet_events=None):
        return len(triggering_asset_events)

    read()
