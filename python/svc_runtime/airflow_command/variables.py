"""Variables: get, set, list, delete"""

from __future__ import annotations

import json

from . import of_task, over_http
from .errors import CommandError
from .output import say, show


def add(commands) -> None:
    get = commands.add_parser("get", help="print the value of a variable")
    get.add_argument("key")
    get.add_argument("-d", "--default")
    get.add_argument("-j", "--json", action="store_true", help="the value is JSON")
    get.set_defaults(run=_get)
    put = commands.add_parser("set", help="create a variable or change it")
    put.add_argument("key")
    put.add_argument("value")
    put.add_argument("--description")
    put.add_argument("-j", "--json", action="store_true", help="the value is JSON")
    put.set_defaults(run=_set)
    commands.add_parser("list", help="list the keys").set_defaults(run=_list)
    delete = commands.add_parser("delete", help="delete a variable")
    delete.add_argument("key")
    delete.set_defaults(run=_delete)


def _get(arguments) -> None:
    value = _value(arguments.key)
    if value is None:
        value = arguments.default
    if value is None:
        raise CommandError(f"Variable {arguments.key} does not exist")
    say(json.dumps(_json(value), indent=2) if arguments.json else value)


def _value(key: str) -> str | None:
    if of_task.is_task():
        try:
            return of_task.ask("get_variable", key=key)["value"]
        except of_task.Refused as refusal:
            if refusal.code == "not_found":
                return None
            raise
    try:
        return over_http.call("GET", "variables", key)["value"]
    except over_http.NotFound:
        return None


def _json(text: str):
    try:
        return json.loads(text)
    except ValueError:
        raise CommandError("the value is not JSON") from None


def _set(arguments) -> None:
    key, value, description = arguments.key, arguments.value, arguments.description
    if arguments.json:
        value = json.dumps(_json(value))
    if of_task.is_task():
        of_task.ask("set_variable", key=key, value=value, description=description)
    else:
        more = {} if description is None else {"description": description}
        over_http.call("POST", "variables", body={"key": key, "value": value, **more})
    say(f"Variable {key} created")


def _list(arguments) -> None:
    found = over_http.every("variables", "variables")
    show([{"key": variable["key"]} for variable in found], arguments.output)


def _delete(arguments) -> None:
    if of_task.is_task():
        of_task.ask("delete_variable", key=arguments.key)
    else:
        over_http.call("DELETE", "variables", arguments.key)
    say(f"Variable {arguments.key} deleted")
