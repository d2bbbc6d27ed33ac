from datetime import datetime

from airflow.sdk import DAG, Asset, AssetAlias, AssetAll, AssetAny, AssetOrTimeSchedule, CronTriggerTimetable, Metadata, task
from airflow.providers.standard.operators.bash import BashOperator

raw = Asset("s3://bucket/raw.csv", extra={"team": "a"})
clean = Asset(name="clean", uri="s3://bucket/clean/", group="models")
other = Asset("other")

with DAG("assets_produce", schedule="@daily", start_date=datetime(2024, 1, 1)):
    BashOperator(task_id="make", bash_command="true", outlets=[raw])

    @task(inlets=[raw], outlets=[clean, AssetAlias("dynamic")])
    def refine(*, outlet_events=None):
        yield Metadata(clean, {"rows": 1})

    refine()

with DAG("assets_one", schedule=raw, start_date=datetime(2024, 1, 1)):
    BashOperator(task_id="a", bash_command="true")
with DAG("assets_list", schedule=[raw, clean], start_date=datetime(2024, 1, 1)):
    BashOperator(task_id="a", bash_command="true")
with DAG("assets_any", schedule=raw | clean | other, start_date=datetime(2024, 1, 1)):
    BashOperator(task_id="a", bash_command="true")
with DAG("assets_tree", schedule=(raw & clean) | other, start_date=datetime(2024, 1, 1)):
    BashOperator(task_id="a", bash_command="true")
with DAG("assets_classes", schedule=AssetAny(AssetAll(raw, other), AssetAlias("dynamic"))):
    BashOperator(task_id="a", bash_command="true")
with DAG("assets_alias", schedule=[AssetAlias("dynamic")]):
    BashOperator(task_id="a", bash_command="true")
with DAG("assets_ref", schedule=[Asset.ref(name="clean"), Asset.ref(uri="s3://bucket/raw.csv")]):
    BashOperator(task_id="a", bash_command="true")
with DAG(
    "assets_or_time",
    schedule=AssetOrTimeSchedule(timetable=CronTriggerTimetable("0 1 * * *", timezone="UTC"), assets=raw & clean),
    start_date=datetime(2024, 1, 1),
):
    BashOperator(task_id="a", bash_command="true")
