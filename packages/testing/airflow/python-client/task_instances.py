from airflow_client.client import (
    ActionsInner,
    BulkBodyBulkTaskInstanceBody,
    BulkDeleteActionBulkTaskInstanceBody,
    BulkTaskInstanceBody,
    BulkUpdateActionBulkTaskInstanceBody,
    ClearTaskInstancesBody,
    ClearTaskInstancesBodyTaskIdsInner,
    EntitiesInner,
    PatchTaskInstanceBody,
    TaskInstanceApi,
    TaskInstancesBatchBody,
)
from airflow_client.client.exceptions import (
    BadRequestException,
    ConflictException,
    ForbiddenException,
    NotFoundException,
)

from harness import same

# Made by the test that calls this: extract (success, in its second try) >> each (mapped: success, failed) >> report
# (upstream_failed), in a failed run of a paused DAG.
DAG, RUN = "cleared_here", "cleared here:1+00:00"


def exercise(harness):
    api = TaskInstanceApi(harness.client)
    reading(harness, api)
    lists(harness, api)
    tries(harness, api)
    marking(harness, api)
    clearing(harness, api)
    waiting(api)
    in_bulk(api)
    deleting(harness, api)


def state_of(api, task_id, map_index=-1):
    return api.get_mapped_task_instance(DAG, RUN, task_id, map_index).state


def reading(harness, api):
    extract = api.get_task_instance(DAG, RUN, "extract")
    same((extract.dag_run_id, extract.state, extract.try_number, extract.map_index), (RUN, "success", 2, -1))
    same(api.get_mapped_task_instance(DAG, RUN, "extract", -1), extract)
    same(extract.dag_version.version_number, 1)
    same(api.get_mapped_task_instance(DAG, RUN, "each", 1).state, "failed")
    with harness.refused(NotFoundException, "is mapped"):
        api.get_task_instance(DAG, RUN, "each")
    links = api.get_extra_links(DAG, RUN, "extract")
    same((links.extra_links, links.total_entries), ({}, 0))


def lists(harness, api):
    page = api.get_task_instances(DAG, RUN, limit=2, offset=1, order_by=["-map_index"])
    same(([each.map_index for each in page.task_instances], page.total_entries), ([0, -1], 4))
    everywhere = api.get_task_instances(
        "~", "~", dag_id_pattern=DAG, state=["failed", "upstream_failed"], pool=["default_pool"], duration_gte=0
    )
    same([each.task_id for each in everywhere.task_instances], ["each", "report"])
    mapped = api.get_mapped_task_instances(DAG, RUN, "each", order_by=["-map_index"], state=["success", "failed"])
    same([each.map_index for each in mapped.task_instances], [1, 0])
    batch = api.get_task_instances_batch(
        "~", "~", TaskInstancesBatchBody(dag_ids=[DAG], dag_run_ids=[RUN], task_ids=["each", "extract"], page_limit=2)
    )
    same((len(batch.task_instances), batch.total_entries), (2, 3))
    with harness.refused(BadRequestException, "order_by"):
        api.get_task_instances(DAG, RUN, order_by=["nonsense"])
    with harness.refused(NotFoundException, "nowhere"):
        api.get_task_instances(DAG, "nowhere")


def tries(harness, api):
    found = api.get_task_instance_tries(DAG, RUN, "extract")
    same([(each.try_number, each.state) for each in found.task_instances], [(1, "failed"), (2, "success")])
    same(api.get_mapped_task_instance_tries(DAG, RUN, "extract", -1), found)
    same(api.get_task_instance_try_details(DAG, RUN, "extract", 1), found.task_instances[0])
    same(api.get_mapped_task_instance_try_details(DAG, RUN, "each", 1, 1).state, "failed")
    with harness.refused(NotFoundException, "try_number: `3`"):
        api.get_task_instance_try_details(DAG, RUN, "extract", 3)


def marking(harness, api):
    noted = api.patch_task_instance(DAG, RUN, "extract", PatchTaskInstanceBody(note="looked at"))
    same([each.note for each in noted.task_instances], ["looked at"])
    skip = PatchTaskInstanceBody(new_state="skipped", include_downstream=True)
    would = api.patch_task_instance_dry_run(DAG, RUN, "each", skip)
    same([(each.task_id, each.map_index) for each in would.task_instances], [("each", 0), ("each", 1), ("report", -1)])
    fail = PatchTaskInstanceBody(new_state="failed")
    would = api.patch_task_instance_dry_run_by_map_index(DAG, RUN, "each", 0, fail)
    same([each.state for each in would.task_instances], ["success"])
    marked = api.patch_task_instance_by_map_index(DAG, RUN, "each", 0, fail)
    same([(each.map_index, each.state) for each in marked.task_instances], [(0, "failed")])
    with harness.refused(ConflictException, "already in failed state"):
        api.patch_task_instance(DAG, RUN, "each", fail, map_index=1)
    with harness.refused(ForbiddenException, "write:task_instance"):
        TaskInstanceApi(harness.viewer).patch_task_instance(DAG, RUN, "extract", fail)


def clearing(harness, api):
    preview = api.post_clear_task_instances(DAG, ClearTaskInstancesBody(dag_run_id=RUN))
    same([(each.task_id, each.map_index) for each in preview.task_instances], [("each", 0), ("each", 1)])
    same(state_of(api, "each", 1), "failed")
    named = [ClearTaskInstancesBodyTaskIdsInner("report"), ClearTaskInstancesBodyTaskIdsInner(["each", 1])]
    cleared = api.post_clear_task_instances(
        DAG, ClearTaskInstancesBody(dag_run_id=RUN, task_ids=named, dry_run=False, only_failed=False)
    )
    same([(each.task_id, each.state) for each in cleared.task_instances], [("each", None), ("report", None)])
    with harness.refused(BadRequestException, "only_running"):
        api.post_clear_task_instances(DAG, ClearTaskInstancesBody(dag_run_id=RUN, only_running=True, only_failed=False))
    with harness.refused(NotFoundException, "nowhere"):
        api.post_clear_task_instances("nowhere", ClearTaskInstancesBody())


def waiting(api):
    names = [each.name for each in api.get_task_instance_dependencies(DAG, RUN, "report").dependencies]
    same(names, ["Dag Not Paused", "Dagrun Running", "Trigger Rule"])
    same(api.get_task_instance_dependencies_by_map_index(DAG, RUN, "extract", -1).dependencies, [])


def in_bulk(api):
    update = BulkUpdateActionBulkTaskInstanceBody(
        action="update",
        entities=[
            BulkTaskInstanceBody(task_id="extract", note="in bulk", map_index=-1),
            BulkTaskInstanceBody(task_id="each", new_state="success", map_index=1),
        ],
    )
    delete = BulkDeleteActionBulkTaskInstanceBody(
        action="delete", entities=[EntitiesInner("nowhere")], action_on_non_existence="fail"
    )
    body = BulkBodyBulkTaskInstanceBody(actions=[ActionsInner(update), ActionsInner(delete)])
    answer = api.bulk_task_instances(DAG, RUN, body)
    same(answer.update.success, [f"{DAG}.{RUN}.extract[-1]", f"{DAG}.{RUN}.each[1]"])
    same((answer.update.errors, answer.delete.success), ([], []))
    same([error["status_code"] for error in answer.delete.errors], [404])
    same(state_of(api, "each", 1), "success")


def deleting(harness, api):
    api.delete_task_instance(DAG, RUN, "report")
    with harness.refused(NotFoundException, "report"):
        api.get_task_instance(DAG, RUN, "report")
