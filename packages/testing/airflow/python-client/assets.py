from datetime import datetime, timedelta, timezone

from airflow_client.client import AssetApi, CreateAssetEventsBody, DAGApi, DAGPatchBody, MaterializeAssetBody
from airflow_client.client.exceptions import ConflictException, ForbiddenException, NotFoundException

from harness import same

CONSUMER = "assets_list"  # waits for "clean" and the raw file


def exercise(harness):
    api = AssetApi(harness.client)
    DAGApi(harness.client).patch_dag(CONSUMER, DAGPatchBody(is_paused=False))
    assets = lists(api)
    aliases(harness, api)
    queue(harness, api, assets["clean"])
    events(harness, api, assets)
    materialize(harness, api, assets)
    DAGApi(harness.client).patch_dag(CONSUMER, DAGPatchBody(is_paused=True))


def lists(api):
    everything = api.get_assets(limit=1000)
    same(everything.total_entries, len(everything.assets))
    for asset in everything.assets:
        same(api.get_asset(asset.id), asset)
    [clean] = api.get_assets(name_pattern="clean").assets
    same((clean.uri, clean.group), ("s3://bucket/clean", "models"))
    same([use.task_id for use in clean.producing_tasks], ["refine"])
    assert CONSUMER in [dag.dag_id for dag in clean.scheduled_dags], clean
    [raw] = api.get_assets(uri_prefix_pattern="s3://bucket/raw").assets
    same(([use.task_id for use in raw.consuming_tasks], raw.extra), (["refine"], {"team": "a"}))
    used = {asset.name for asset in api.get_assets(dag_ids=[CONSUMER]).assets}
    same(used, {"clean", raw.name})
    return {asset.name: asset.id for asset in everything.assets} | {"raw": raw.id}


def aliases(harness, api):
    [alias] = api.get_asset_aliases(name_pattern="dyn%").asset_aliases
    same(api.get_asset_alias(alias.id), alias.to_dict())  # the client has no model for it
    with harness.refused(NotFoundException):
        api.get_asset_alias(2_000_000_000)


def queue(harness, api, asset_id):
    """One of the two events the consumer needs: it waits."""
    api.create_asset_event(CreateAssetEventsBody(asset_id=asset_id, extra={"rows": 3}))
    of_dag = api.get_dag_asset_queued_events(CONSUMER)
    same([(event.dag_id, event.asset_id) for event in of_dag.queued_events], [(CONSUMER, asset_id)])
    same(api.get_dag_asset_queued_event(CONSUMER, asset_id), of_dag.queued_events[0])
    same(api.get_asset_queued_events(asset_id).queued_events, of_dag.queued_events)
    long_ago = (datetime.now(timezone.utc) - timedelta(days=1)).isoformat()
    same(api.get_asset_queued_events(asset_id, before=long_ago).total_entries, 0)
    api.delete_dag_asset_queued_event(CONSUMER, asset_id)
    for again in (
        lambda: api.delete_dag_asset_queued_events(CONSUMER),
        lambda: api.delete_asset_queued_events(asset_id),
        lambda: api.get_dag_asset_queued_event(CONSUMER, asset_id),
    ):
        with harness.refused(NotFoundException, "Queued event"):
            again()


def events(harness, api, assets):
    """Both: it runs, and says why."""
    first = api.create_asset_event(CreateAssetEventsBody(asset_id=assets["clean"], extra={"n": 1}))
    same((first.name, first.source_dag_id, first.source_map_index, first.created_dagruns), ("clean", None, -1, []))
    second = api.create_asset_event(CreateAssetEventsBody(asset_id=assets["raw"], extra={}))
    same([run.dag_id for run in second.created_dagruns], [CONSUMER])
    newest = api.get_asset_events(order_by=["-timestamp"], limit=2)
    same([event.id for event in newest.asset_events], [second.id, first.id])
    same(newest.asset_events[1].created_dagruns, second.created_dagruns)
    same(api.get_asset_events(asset_id=assets["raw"], timestamp_gte=second.timestamp).total_entries, 1)
    same(api.get_asset(assets["raw"]).last_asset_event.id, second.id)
    with harness.refused(NotFoundException, "2000000000"):
        api.create_asset_event(CreateAssetEventsBody(asset_id=2_000_000_000, extra={}))
    with harness.refused(ForbiddenException, "write:asset"):
        AssetApi(harness.viewer).create_asset_event(CreateAssetEventsBody(asset_id=assets["raw"], extra={}))


def materialize(harness, api, assets):
    run = api.materialize_asset(assets["numbers"])
    same((run.dag_id, run.run_type, run.state, run.logical_date), ("numbers", "asset_materialization", "queued", None))
    body = MaterializeAssetBody(dag_run_id="made-by-hand", conf={"a": 1}, note="because", logical_date=None)
    named = api.materialize_asset(assets["numbers"], materialize_asset_body=body)
    same((named.dag_run_id, named.conf, named.note), ("made-by-hand", {"a": 1}, "because"))
    with harness.refused(ConflictException, "made-by-hand"):
        api.materialize_asset(assets["numbers"], materialize_asset_body=body)
    with harness.refused(NotFoundException, "No Dag materializes"):
        api.materialize_asset(assets["other"])
