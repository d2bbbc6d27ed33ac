from datetime import datetime, timezone

from airflow_client.client import BackfillApi, BackfillPostBody, DAGApi, DAGPatchBody, DagRunApi
from airflow_client.client.exceptions import (
    BadRequestException,
    ConflictException,
    ForbiddenException,
    NotFoundException,
)

from harness import same

DAG = "schedule_daily"


def day(n):
    return datetime(2024, 3, n, tzinfo=timezone.utc)


def body(**changes):
    return BackfillPostBody(**{"dag_id": DAG, "from_date": day(1), "to_date": day(3), "dag_run_conf": {}} | changes)


def exercise(harness):
    api = BackfillApi(harness.client)
    DAGApi(harness.client).patch_dag(DAG, DAGPatchBody(is_paused=True))
    dry_run(api)
    backfill = create(harness, api)
    change(harness, api, backfill.id)
    reprocess(api)
    refusals(harness, api)


def dry_run(api):
    dates = api.create_backfill_dry_run(body(run_backwards=True))
    same([each.logical_date for each in dates.backfills], [day(3), day(2), day(1)])
    same(dates.total_entries, 3)


def create(harness, api):
    backfill = api.create_backfill(body(max_active_runs=2, dag_run_conf={"a": 1}))
    same((backfill.dag_id, backfill.from_date, backfill.to_date), (DAG, day(1), day(3)))
    same((backfill.max_active_runs, backfill.dag_run_conf, backfill.completed_at), (2, {"a": 1}, None))
    same(api.get_backfill(backfill.id), backfill)
    same(api.list_backfills(dag_id=DAG).backfills, [backfill])
    runs = DagRunApi(harness.client).get_dag_runs(DAG, run_type=["backfill"], order_by=["logical_date"]).dag_runs
    same([run.dag_run_id for run in runs], [f"backfill__2024-03-0{n}T00:00:00+00:00" for n in (1, 2, 3)])
    same({run.state for run in runs}, {"queued"})  # the DAG is paused
    with harness.refused(ConflictException, "already a running backfill"):
        api.create_backfill(body())
    return backfill


def change(harness, api, backfill_id):
    same(api.pause_backfill(backfill_id).is_paused, True)
    same(api.unpause_backfill(backfill_id).is_paused, False)
    cancelled = api.cancel_backfill(backfill_id)
    same((cancelled.is_paused, cancelled.completed_at is None), (True, False))
    with harness.refused(ConflictException, "already completed"):
        api.cancel_backfill(backfill_id)


def reprocess(api):
    same(api.create_backfill_dry_run(body()).total_entries, 0)
    same(api.create_backfill_dry_run(body(reprocess_behavior="failed")).total_entries, 3)
    again = api.create_backfill(body(reprocess_behavior="failed"))
    api.cancel_backfill(again.id)


def refusals(harness, api):
    with harness.refused(NotFoundException, "nowhere"):
        api.create_backfill(body(dag_id="nowhere"))
    with harness.refused(NotFoundException, "2000000000"):
        api.get_backfill(2_000_000_000)
    with harness.refused(BadRequestException, "later"):
        api.create_backfill(body(from_date=day(9)))
    with harness.refused(ForbiddenException, "write:dag_run"):
        BackfillApi(harness.viewer).create_backfill(body())
