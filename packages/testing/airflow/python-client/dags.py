from airflow_client.client import (
    DAGApi,
    DAGPatchBody,
    DagSourceApi,
    DagVersionApi,
    DagWarningApi,
    ImportErrorApi,
    TaskApi,
)
from airflow_client.client.exceptions import ForbiddenException, NotFoundException

from harness import same


def exercise(harness):
    api = DAGApi(harness.client)
    dags = api.get_dags(limit=1000).dags
    assert dags, "no DAG was registered for this test"
    for dag in dags:
        every_answer_about(harness, dag)
    pausing(harness, api, dags[0].dag_id)
    favourites(api, dags[0].dag_id)
    same(DagWarningApi(harness.client).list_dag_warnings().total_entries, 0)
    import_errors(harness)
    deleting(harness, api, dags[0].dag_id)


def every_answer_about(harness, dag):
    api = DAGApi(harness.client)
    same(api.get_dag(dag.dag_id).dag_id, dag.dag_id)
    details = api.get_dag_details(dag.dag_id)
    same((details.dag_id, details.dag_display_name), (dag.dag_id, dag.dag_display_name))
    versions = DagVersionApi(harness.client).get_dag_versions(dag.dag_id)
    for version in versions.dag_versions:
        same(DagVersionApi(harness.client).get_dag_version(dag.dag_id, version.version_number), version)
    source = DagSourceApi(harness.client).get_dag_source(dag.dag_id)
    same(source.dag_id, dag.dag_id)
    tasks = TaskApi(harness.client).get_tasks(dag.dag_id)
    same(tasks.total_entries, len(tasks.tasks))
    for task in tasks.tasks[:1]:
        same(TaskApi(harness.client).get_task(dag.dag_id, task.task_id), task)


def pausing(harness, api, dag_id):
    unpaused = api.patch_dags(DAGPatchBody(is_paused=False), dag_id_pattern="%", limit=1000)
    assert unpaused.total_entries > 0 and not any(dag.is_paused for dag in unpaused.dags), unpaused
    same(api.patch_dag(dag_id, DAGPatchBody(is_paused=True)).is_paused, True)
    same([dag.dag_id for dag in api.get_dags(paused=True).dags], [dag_id])
    with harness.refused(ForbiddenException, "write:dag"):
        DAGApi(harness.viewer).patch_dag(dag_id, DAGPatchBody(is_paused=True))
    tags = api.get_dag_tags()
    same(tags.total_entries, len(tags.tags))


def favourites(api, dag_id):
    api.favorite_dag(dag_id)
    same([dag.dag_id for dag in api.get_dags(is_favorite=True).dags], [dag_id])
    api.unfavorite_dag(dag_id)
    same(api.get_dags(is_favorite=True).total_entries, 0)


def import_errors(harness):
    api = ImportErrorApi(harness.client)
    [error] = api.get_import_errors().import_errors
    same(api.get_import_error(error.import_error_id), error)
    with harness.refused(NotFoundException):
        api.get_import_error(2_000_000_000)


def deleting(harness, api, dag_id):
    api.delete_dag(dag_id)
    with harness.refused(NotFoundException, dag_id):
        api.get_dag(dag_id)
