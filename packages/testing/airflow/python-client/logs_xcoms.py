from airflow_client.client import TaskInstanceApi, XComApi, XComCreateBody, XComUpdateBody
from airflow_client.client.exceptions import (
    BadRequestException,
    ConflictException,
    ForbiddenException,
    NotFoundException,
)

from harness import same

# Made by the test that calls this: a finished task with a log and a value, and one that is still running.
DAG, RUN, DONE, RUNNING = "left_behind", "left-behind:1+~", "done", "still_running"


def exercise(harness):
    logs(harness, TaskInstanceApi(harness.client))
    api = XComApi(harness.client)
    reading(harness, api)
    writing(harness, api)


def logs(harness, api):
    log = api.get_log(DAG, RUN, DONE, 1)
    same([record.event for record in log.content.actual_instance], ["hello", "Où? 漢字 🚀"])
    same(log.continuation_token, None)
    same(log.content.actual_instance[0].timestamp.microsecond, 123456)
    same(api.get_log(DAG, RUN, DONE, 1, full_content=True, map_index=-1), log)
    begun = api.get_log(DAG, RUN, RUNNING, 1)
    same(begun.content.actual_instance, [])
    same(api.get_log(DAG, RUN, RUNNING, 1, token=begun.continuation_token), begun)
    for call in (lambda: api.get_log(DAG, RUN, DONE, 2), lambda: api.get_external_log_url(DAG, RUN, DONE, 2)):
        with harness.refused(NotFoundException):
            call()
    with harness.refused(BadRequestException, "kept here only"):
        api.get_external_log_url(DAG, RUN, DONE, 1)
    with harness.refused(BadRequestException, "token"):
        api.get_log(DAG, RUN, DONE, 1, token="made up")


def reading(harness, api):
    entries = api.get_xcom_entries(DAG, RUN, DONE)
    same([(entry.key, entry.run_id, entry.map_index) for entry in entries.xcom_entries], [("return_value", RUN, -1)])
    everywhere = api.get_xcom_entries("~", "~", "~", xcom_key_pattern="RETURN", run_id_prefix_pattern="left-behind")
    same((everywhere.total_entries, everywhere.xcom_entries[0].task_id), (1, DONE))
    read = lambda **form: api.get_xcom_entry(DAG, DONE, RUN, "return_value", **form).actual_instance.value
    same(read(), {"__classname__": "builtins.tuple", "__version__": 1, "__data__": [1, "a"]})
    same(read(deserialize=True), [1, "a"])
    same(read(deserialize=True, stringify=True), '[1,"a"]')
    with harness.refused(NotFoundException, "nowhere"):
        api.get_xcom_entry(DAG, DONE, RUN, "nowhere")


def writing(harness, api):
    key = "with/slash"
    created = api.create_xcom_entry(DAG, DONE, RUN, XComCreateBody(key=key, value={"a": [1, None]}, map_index=-1))
    same((created.key, created.value), (key, {"a": [1, None]}))
    with harness.refused(ConflictException, key):
        api.create_xcom_entry(DAG, DONE, RUN, XComCreateBody(key=key, value=1))
    changed = api.update_xcom_entry(DAG, DONE, RUN, key, XComUpdateBody(value="other"))
    same((changed.key, changed.value), (key, "other"))
    same(api.get_xcom_entry(DAG, DONE, RUN, key).actual_instance.value, "other")
    with harness.refused(BadRequestException, "__classname__"):
        api.update_xcom_entry(DAG, DONE, RUN, key, XComUpdateBody(value={"__classname__": "x"}))
    with harness.refused(ForbiddenException, "write:xcom"):
        XComApi(harness.viewer).delete_xcom_entry(DAG, DONE, RUN, key)
    api.delete_xcom_entry(DAG, DONE, RUN, key)
    with harness.refused(NotFoundException, key):
        api.delete_xcom_entry(DAG, DONE, RUN, key)
