import json

from airflow_client.client import (
    ActionsInner1,
    BulkBodyConnectionBody,
    BulkCreateActionConnectionBody,
    BulkDeleteActionConnectionBody,
    BulkUpdateActionConnectionBody,
    ConnectionApi,
    ConnectionBody,
    EntitiesInner1,
)
from airflow_client.client.exceptions import (
    BadRequestException,
    ForbiddenException,
    NotFoundException,
    UnauthorizedException,
)

from harness import same

FULL = ConnectionBody(
    connection_id="warehouse",
    conn_type="postgres",
    description="Où? Ωμέγα, 漢字 & 🚀",
    host="db.example.com",
    login="etl",
    password="s3cret+/=",
    port=5432,
    var_schema="public",
    extra=json.dumps({"sslmode": "require", "access_key": "AKIA", "nested": {"token": "deep", "n": 1}}),
)
MASKED_EXTRA = {"sslmode": "require", "access_key": "***", "nested": {"token": "***", "n": 1}}


def exercise(harness):
    api = ConnectionApi(harness.client)
    create_and_read(api)
    send_back_what_was_read(api)
    change(api)
    lists(api)
    in_bulk(api)
    refusals(harness, api)
    api.delete_connection("warehouse")
    with harness.refused(NotFoundException, "warehouse"):
        api.get_connection("warehouse")
    api.create_default_connections()
    same(api.get_connection("http_default").conn_type, "http")


def create_and_read(api):
    created = api.post_connection_with_http_info(FULL)
    same(created.status_code, 201)
    read = api.get_connection("warehouse")
    same(read, created.data)
    for field in ("connection_id", "conn_type", "description", "host", "login", "port", "var_schema"):
        same(getattr(read, field), getattr(FULL, field))
    same(read.password, None)
    same(json.loads(read.extra), MASKED_EXTRA)


def send_back_what_was_read(api):
    """A connection read, turned into a body and sent again keeps everything, the secrets it could not read included."""
    read = api.get_connection("warehouse")
    body = ConnectionBody.from_dict(read.to_dict())
    same(api.patch_connection("warehouse", body), read)
    same(api.post_connection(body), read)
    body.password = "***"
    same(api.patch_connection("warehouse", body), read)


def change(api):
    changed = api.patch_connection(
        "warehouse", ConnectionBody(connection_id="warehouse", conn_type="mysql", host="", port=3306)
    )
    same((changed.conn_type, changed.host, changed.port, changed.login), ("mysql", None, 3306, "etl"))
    masked = api.patch_connection(
        "warehouse",
        ConnectionBody(connection_id="warehouse", conn_type="sqlite", login="root", host="new.example.com"),
        update_mask=["host"],
    )
    same((masked.conn_type, masked.host, masked.login), ("mysql", "new.example.com", "etl"))


def lists(api):
    for n in range(3):
        api.post_connection(ConnectionBody(connection_id=f"list.{n}", conn_type="http"))
    page = api.get_connections(limit=2, offset=1, order_by=["-connection_id"], connection_id_pattern="list.%")
    same(page.total_entries, 3)
    same([connection.connection_id for connection in page.connections], ["list.1", "list.0"])
    same(api.get_connections(limit=1000).total_entries, 4)


def in_bulk(api):
    answer = api.bulk_connections(
        BulkBodyConnectionBody(
            actions=[
                ActionsInner1(
                    BulkCreateActionConnectionBody(
                        action="create",
                        action_on_existence="overwrite",
                        entities=[ConnectionBody(connection_id="bulk.1", conn_type="http", password="one")],
                    )
                ),
                ActionsInner1(
                    BulkUpdateActionConnectionBody(
                        action="update",
                        action_on_non_existence="skip",
                        entities=[ConnectionBody(connection_id="list.0", conn_type="ftp")],
                    )
                ),
                ActionsInner1(
                    BulkDeleteActionConnectionBody(
                        action="delete",
                        action_on_non_existence="fail",
                        entities=[EntitiesInner1("list.1"), EntitiesInner1("list.2")],
                    )
                ),
            ]
        )
    )
    same(answer.create.success, ["bulk.1"])
    same(answer.update.success, ["list.0"])
    same(sorted(answer.delete.success), ["list.1", "list.2"])
    same((answer.create.errors, answer.update.errors, answer.delete.errors), ([], [], []))
    same(api.get_connection("list.0").conn_type, "ftp")


def refusals(harness, api):
    with harness.refused(ForbiddenException, "connections.test_enabled"):
        api.test_connection(FULL)
    with harness.refused(NotFoundException, "nowhere"):
        api.patch_connection("nowhere", ConnectionBody(connection_id="nowhere", conn_type="http"))
    with harness.refused(NotFoundException, "nowhere"):
        api.delete_connection("nowhere")
    with harness.refused(BadRequestException, "limit"):
        api.get_connections(limit=1001)
    with harness.refused(UnauthorizedException, "token"):
        ConnectionApi(harness.stranger).get_connections()
    with harness.refused(ForbiddenException, "write:connection"):
        ConnectionApi(harness.viewer).post_connection(FULL)
