from airflow.sdk import Asset, asset


@asset(schedule="@daily", uri="s3://bucket/numbers", extra={"k": "v"}, tags=["x"])
def numbers(self, context):
    """Numbers for everyone."""
    return [1]


@asset(schedule=numbers)
def doubled(numbers):
    return numbers


@asset(schedule=None, name="named_asset", dag_id="own_dag_id", group="g")
def by_name(context, doubled, other=Asset("default_one")):
    pass


@asset.multi(schedule=[Asset("doubled")], outlets=[Asset("left"), Asset("right")])
def pair():
    pass
