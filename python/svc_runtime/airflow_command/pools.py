"""Pools: list, get, set, delete"""

from __future__ import annotations

from . import over_http
from .output import say, show


def add(commands) -> None:
    commands.add_parser("list", help="list pools").set_defaults(run=_list)
    get = commands.add_parser("get", help="show one pool")
    get.add_argument("pool")
    get.set_defaults(run=_get)
    put = commands.add_parser("set", help="create a pool or change it")
    put.add_argument("pool")
    put.add_argument("slots", type=int)
    put.add_argument("description")
    put.add_argument("--include-deferred", action="store_true")
    put.set_defaults(run=_set)
    delete = commands.add_parser("delete", help="delete a pool")
    delete.add_argument("pool")
    delete.set_defaults(run=_delete)


def _row(pool: dict) -> dict:
    return {"pool": pool["name"], **{name: pool[name] for name in ("slots", "description", "include_deferred")}}


def _list(arguments) -> None:
    show([_row(pool) for pool in over_http.every("pools", "pools")], arguments.output)


def _get(arguments) -> None:
    show([_row(over_http.call("GET", "pools", arguments.pool))], arguments.output)


def _set(arguments) -> None:
    name = arguments.pool
    fields = {
        "slots": arguments.slots,
        "description": arguments.description,
        "include_deferred": arguments.include_deferred,
    }
    if name == "default_pool":
        del fields["description"]  # svc keeps its own
    try:
        over_http.call("PATCH", "pools", name, body=fields)
    except over_http.NotFound:
        over_http.call("POST", "pools", body={"name": name, **fields})
    say(f"Pool {name} created")


def _delete(arguments) -> None:
    over_http.call("DELETE", "pools", arguments.pool)
    say(f"Pool {arguments.pool} deleted")
