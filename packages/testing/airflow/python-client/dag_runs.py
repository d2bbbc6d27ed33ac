from datetime import datetime, timezone

from airflow_client.client import (
    DAGApi,
    DAGRunClearBody,
    DAGRunPatchBody,
    DAGRunsBatchBody,
    DagRunApi,
    DagStatsApi,
    ExperimentalApi,
    TriggerDAGRunPostBody,
)
from airflow_client.client.exceptions import (
    BadRequestException,
    ConflictException,
    ForbiddenException,
    NotFoundException,
)

from harness import same

RUN_ID = "manual__2026-01-02T03:04:05.000006+00:00"  # with what is special in a path
LOGICAL_DATE = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=timezone.utc)


def exercise(harness):
    dag_id = dag_without_params(harness)
    api = DagRunApi(harness.client)
    run = triggering(harness, api, dag_id)
    lists(harness, api, run)
    same(api.get_upstream_asset_events(dag_id, RUN_ID).total_entries, 0)
    marking(harness, api, dag_id)
    clearing(harness, api, dag_id)
    deleting(harness, api, dag_id)


def dag_without_params(harness):
    api = DAGApi(harness.client)
    for dag in api.get_dags(limit=1000).dags:
        details = api.get_dag_details(dag.dag_id)
        if not (details.params or details.allowed_run_types or details.has_import_errors):
            return dag.dag_id
    raise AssertionError("no DAG can be triggered without a conf")


def triggering(harness, api, dag_id):
    body = TriggerDAGRunPostBody(
        dag_run_id=RUN_ID, logical_date=LOGICAL_DATE, conf={"a": [1, None]}, note="because", partition_key="eu"
    )
    run = api.trigger_dag_run(dag_id, body)
    same((run.dag_run_id, run.dag_id, run.run_type, run.note), (RUN_ID, dag_id, "manual", "because"))
    same((run.logical_date, run.conf), (LOGICAL_DATE, {"a": [1, None]}))
    same(run.triggered_by, "rest_api")
    for duplicate in (
        TriggerDAGRunPostBody(dag_run_id=RUN_ID),
        TriggerDAGRunPostBody(logical_date=LOGICAL_DATE),
    ):
        with harness.refused(ConflictException, dag_id):
            api.trigger_dag_run(dag_id, duplicate)
    with harness.refused(BadRequestException, "dag_run_id"):
        api.trigger_dag_run(dag_id, TriggerDAGRunPostBody(dag_run_id="a/b"))
    with harness.refused(NotFoundException, "nowhere"):
        api.trigger_dag_run("nowhere", TriggerDAGRunPostBody())
    with harness.refused(ForbiddenException, "write:dag_run"):
        DagRunApi(harness.viewer).trigger_dag_run(dag_id, TriggerDAGRunPostBody())
    default = api.trigger_dag_run(dag_id, TriggerDAGRunPostBody())
    assert default.logical_date is not None and default.dag_run_id.startswith("manual__"), default
    api.patch_dag_run(dag_id, default.dag_run_id, DAGRunPatchBody(state="failed"))
    api.delete_dag_run(dag_id, default.dag_run_id)
    return run


def lists(harness, api, run):
    of_dag = api.get_dag_runs(run.dag_id, run_type=["manual"], dag_version=[1], order_by=["-run_after", "id"])
    same([each.dag_run_id for each in of_dag.dag_runs], [RUN_ID])
    of_all = api.get_dag_runs("~", run_id_pattern="2026-01-02", logical_date_gte=LOGICAL_DATE, conf_contains="null")
    same((of_all.total_entries, of_all.dag_runs[0].dag_id), (1, run.dag_id))
    same(api.get_dag_runs("~", logical_date_gt=LOGICAL_DATE, logical_date_lte=LOGICAL_DATE).total_entries, 0)
    batch = api.get_list_dag_runs_batch(
        "~", DAGRunsBatchBody(dag_ids=[run.dag_id], order_by="-logical_date", logical_date_lte=LOGICAL_DATE)
    )
    same([each.dag_run_id for each in batch.dag_runs], [RUN_ID])
    with harness.refused(NotFoundException, "nowhere"):
        api.get_dag_runs("nowhere")
    with harness.refused(NotFoundException, RUN_ID):
        api.get_dag_run("nowhere", RUN_ID)
    [stats] = DagStatsApi(harness.client).get_dag_stats(dag_ids=[run.dag_id]).dags
    same(sum(each.count for each in stats.stats), 1)


def marking(harness, api, dag_id):
    noted = api.patch_dag_run(dag_id, RUN_ID, DAGRunPatchBody(note="other", state="failed"), update_mask=["note"])
    same(noted.note, "other")
    assert noted.state != "failed", noted
    done = api.patch_dag_run(dag_id, RUN_ID, DAGRunPatchBody(state="success"))
    same((done.state, done.note), ("success", "other"))
    same(api.get_dag_run(dag_id, RUN_ID).state, "success")
    waited = ExperimentalApi(harness.client).wait_dag_run_until_finished(dag_id, RUN_ID, interval=1.0, result=["none"])
    same(waited, {"state": "success", "results": {}})


def clearing(harness, api, dag_id):
    preview = api.clear_dag_run(dag_id, RUN_ID, DAGRunClearBody(dry_run=True)).actual_instance
    same(len(preview.task_instances), preview.total_entries)
    with harness.refused(BadRequestException, "only_new"):
        api.clear_dag_run(dag_id, RUN_ID, DAGRunClearBody(only_new=True, only_failed=True))
    cleared = api.clear_dag_run(dag_id, RUN_ID, DAGRunClearBody(dry_run=False)).actual_instance
    same(cleared.dag_run_id, RUN_ID)


def deleting(harness, api, dag_id):
    api.patch_dag_run(dag_id, RUN_ID, DAGRunPatchBody(state="failed"))
    api.delete_dag_run(dag_id, RUN_ID)
    with harness.refused(NotFoundException, RUN_ID):
        api.delete_dag_run(dag_id, RUN_ID)
