from airflow_client.client import (
    ActionsInner2,
    BulkBodyPoolBody,
    BulkCreateActionPoolBody,
    BulkDeleteActionPoolBody,
    BulkUpdateActionPoolBody,
    EntitiesInner2,
    PoolApi,
    PoolBody,
    PoolPatchBody,
)
from airflow_client.client.exceptions import (
    BadRequestException,
    ConflictException,
    ForbiddenException,
    NotFoundException,
)

from harness import same


def exercise(harness):
    api = PoolApi(harness.client)
    create_and_read(harness, api)
    change(harness, api)
    lists(api)
    in_bulk(api)
    refusals(harness, api)
    api.delete_pool("etl")
    with harness.refused(NotFoundException, "etl"):
        api.get_pool("etl")


def create_and_read(harness, api):
    created = api.post_pool_with_http_info(PoolBody(name="etl", slots=5, description="für ETL", include_deferred=True))
    same(created.status_code, 201)
    read = api.get_pool("etl")
    same(read, created.data)
    same((read.slots, read.description, read.include_deferred), (5, "für ETL", True))
    same((read.open_slots, read.occupied_slots, read.running_slots, read.queued_slots), (5, 0, 0, 0))
    same(api.post_pool(PoolBody(name="no limit/at all", slots=-1)).open_slots, -1)
    same(api.get_pool("no limit/at all").slots, -1)
    with harness.refused(ConflictException, "etl"):
        api.post_pool(PoolBody(name="etl", slots=1))


def change(harness, api):
    changed = api.patch_pool("etl", PoolPatchBody(pool="etl", slots=7, include_deferred=False))
    same((changed.slots, changed.description, changed.include_deferred), (7, "für ETL", False))
    masked = api.patch_pool("etl", PoolPatchBody(slots=8, description="ignored"), update_mask=["slots"])
    same((masked.slots, masked.description), (8, "für ETL"))
    same(api.patch_pool("default_pool", PoolPatchBody(slots=127), update_mask=["slots"]).slots, 127)
    with harness.refused(BadRequestException, "renamed"):
        api.patch_pool("etl", PoolPatchBody(pool="elt", slots=1))


def lists(api):
    page = api.get_pools(order_by=["-name"], limit=2)
    same((page.total_entries, [pool.name for pool in page.pools]), (3, ["no limit/at all", "etl"]))
    same([pool.name for pool in api.get_pools(pool_name_pattern="def%pool").pools], ["default_pool"])


def in_bulk(api):
    actions = [
        BulkCreateActionPoolBody(action="create", entities=[PoolBody(name="bulk", slots=1)]),
        BulkUpdateActionPoolBody(action="update", entities=[PoolBody(name="etl", slots=9)]),
        BulkDeleteActionPoolBody(action="delete", entities=[EntitiesInner2("no limit/at all")]),
    ]
    answer = api.bulk_pools(BulkBodyPoolBody(actions=[ActionsInner2(action) for action in actions]))
    same(answer.create.success, ["bulk"])
    same(answer.update.success, ["etl"])
    same(answer.delete.success, ["no limit/at all"])
    same((api.get_pool("etl").slots, api.get_pool("etl").description), (9, "für ETL"))
    api.delete_pool("bulk")


def refusals(harness, api):
    with harness.refused(BadRequestException, "cannot be deleted"):
        api.delete_pool("default_pool")
    with harness.refused(NotFoundException, "nowhere"):
        api.patch_pool("nowhere", PoolPatchBody(slots=1))
    with harness.refused(ForbiddenException, "write:pool"):
        PoolApi(harness.viewer).delete_pool("etl")
