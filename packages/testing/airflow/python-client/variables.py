from airflow_client.client import (
    ActionsInner3,
    BulkBodyVariableBody,
    BulkCreateActionVariableBody,
    BulkDeleteActionVariableBody,
    BulkUpdateActionVariableBody,
    EntitiesInner3,
    VariableApi,
    VariableBody,
)
from airflow_client.client.exceptions import BadRequestException, ForbiddenException, NotFoundException

from harness import same


def exercise(harness):
    api = VariableApi(harness.client)
    create_and_read(api)
    values_that_are_no_text(api)
    send_back_what_was_read(api)
    lists(api)
    in_bulk(api)
    refusals(harness, api)
    api.delete_variable("plain")
    with harness.refused(NotFoundException, "plain"):
        api.get_variable("plain")


def create_and_read(api):
    created = api.post_variable_with_http_info(VariableBody(key="plain", value="grün 🌱", description="a colour"))
    same(created.status_code, 201)
    read = api.get_variable("plain")
    same(read, created.data)
    same((read.key, read.value, read.description, read.is_encrypted), ("plain", "grün 🌱", "a colour", True))
    # The client percent-encodes what a path cannot hold.
    for key in ("with/slash", "with space", "100%", "ключ", "a+b"):
        api.post_variable(VariableBody(key=key, value="v"))
        same(api.get_variable(key).key, key)
        api.delete_variable(key)


def values_that_are_no_text(api):
    api.post_variable(VariableBody(key="structured", value={"a": [1, 2.5, None, True]}))
    same(api.get_variable("structured").value, '{"a":[1,2.5,null,true]}')


def send_back_what_was_read(api):
    api.post_variable(VariableBody(key="api_token", value="the real one"))
    read = api.get_variable("api_token")
    same(read.value, "***")
    body = VariableBody.from_dict(read.to_dict())
    same(api.patch_variable("api_token", body), read)
    plain = api.get_variable("plain")
    same(api.patch_variable("plain", VariableBody.from_dict(plain.to_dict())), plain)
    changed = api.patch_variable(
        "plain", VariableBody(key="plain", value="blau", description="ignored"), update_mask=["value"]
    )
    same((changed.value, changed.description), ("blau", "a colour"))


def lists(api):
    page = api.get_variables(limit=1, order_by=["-key"], variable_key_pattern="%a%")
    same((page.total_entries, [variable.key for variable in page.variables]), (2, ["plain"]))
    same(api.get_variables().total_entries, 3)


def in_bulk(api):
    answer = api.bulk_variables(
        BulkBodyVariableBody(
            actions=[
                ActionsInner3(
                    BulkCreateActionVariableBody(
                        action="create",
                        entities=[VariableBody(key="bulk", value="1"), VariableBody(key="bulk2", value="2")],
                    )
                ),
                ActionsInner3(
                    BulkUpdateActionVariableBody(
                        action="update", entities=[VariableBody(key="structured", value="text now")]
                    )
                ),
                ActionsInner3(BulkDeleteActionVariableBody(action="delete", entities=[EntitiesInner3("api_token")])),
            ]
        )
    )
    same(answer.create.success, ["bulk", "bulk2"])
    same(answer.update.success, ["structured"])
    same(answer.delete.success, ["api_token"])
    failed = api.bulk_variables(
        BulkBodyVariableBody(
            actions=[
                ActionsInner3(
                    BulkDeleteActionVariableBody(
                        action="delete", entities=[EntitiesInner3("never was")], action_on_non_existence="fail"
                    )
                )
            ]
        )
    )
    same((failed.delete.success, len(failed.delete.errors)), ([], 1))


def refusals(harness, api):
    with harness.refused(NotFoundException, "nowhere"):
        api.patch_variable("nowhere", VariableBody(key="nowhere", value="v"))
    with harness.refused(NotFoundException, "nowhere"):
        api.delete_variable("nowhere")
    with harness.refused(BadRequestException, "key"):
        api.post_variable(VariableBody(key="", value="v"))
    with harness.refused(ForbiddenException, "write:variable"):
        VariableApi(harness.viewer).delete_variable("plain")
