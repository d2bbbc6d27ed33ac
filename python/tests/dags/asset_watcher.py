from airflow.sdk import DAG, Asset, AssetWatcher
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.triggers.file import FileDeleteTrigger

trigger = FileDeleteTrigger(filepath="/tmp/incoming", poke_interval=10)
incoming = Asset("incoming", watchers=[AssetWatcher(name="file_watcher", trigger=trigger)])

with DAG("asset_watcher", schedule=[incoming], catchup=False):
    EmptyOperator(task_id="a")
