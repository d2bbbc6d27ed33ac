"""Connections: get, list"""

from __future__ import annotations

from . import of_task, over_http
from .output import show

_FIELDS = ("conn_type", "description", "host", "schema", "login", "password", "port", "extra")


def add(commands) -> None:
    get = commands.add_parser("get", help="show one connection")
    get.add_argument("conn_id")
    get.set_defaults(run=_get)
    listed = commands.add_parser("list", help="list connections, without their secrets")
    listed.add_argument("--conn-id", help="only this one")
    listed.set_defaults(run=_list)


def _get(arguments) -> None:
    conn_id = arguments.conn_id
    if of_task.is_task():
        found = of_task.ask("get_connection", id=conn_id)
        if isinstance(found, str):
            show([{"conn_id": conn_id, "get_uri": found}], arguments.output)
            return
    else:
        found = over_http.call("GET", "connections", conn_id)
    show([_row(conn_id, found)], arguments.output)


def _row(conn_id: str, found: dict) -> dict:
    return {"conn_id": conn_id, **{name: found.get(name) for name in _FIELDS}}


def _list(arguments) -> None:
    found = over_http.every("connections", "connections")
    rows = [_row(each["connection_id"], each) for each in found]
    show([row for row in rows if arguments.conn_id in (None, row["conn_id"])], arguments.output)
