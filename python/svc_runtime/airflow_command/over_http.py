"""The control plane over its HTTP API: SVC_SERVER_URL and SVC_TOKEN say which one, and as whom."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from urllib.parse import quote, urlencode

from .errors import CommandError
from .of_task import is_task

_PAGE = 1000
_PATIENCE_SECONDS = 60


class NotFound(CommandError):
    pass


def call(method: str, *parts: str, query: dict | None = None, body: dict | None = None):
    """`parts`: of the path below /api/v2, unquoted."""
    server = os.environ.get("SVC_SERVER_URL", "").rstrip("/")
    token = os.environ.get("SVC_TOKEN", "").strip()
    if is_task() and not (server and token):
        raise CommandError(
            "a task has no right to this command: give it the address and the token of a service account in "
            "SVC_SERVER_URL and SVC_TOKEN"
        )
    address = (server or "http://127.0.0.1:8088") + "/api/v2/" + "/".join(quote(part, safe="") for part in parts)
    request = urllib.request.Request(
        address + (f"?{urlencode(query, doseq=True)}" if query else ""),
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Accept": "application/json", "Content-Type": "application/json", "User-Agent": "svc-airflow-command"},
    )
    if token:
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE_SECONDS) as answer:
            text = answer.read()
    except urllib.error.HTTPError as error:
        raise (NotFound if error.code == 404 else CommandError)(_detail(error)) from None
    except OSError as error:
        raise CommandError(f"{server or address} cannot be reached: {getattr(error, 'reason', error)}") from None
    return json.loads(text) if text else None


def _detail(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read())["detail"])
    except (ValueError, KeyError, TypeError):
        return f"the control plane answered {error.code}"


def every(name: str, *parts: str, query: dict | None = None) -> list:
    """All items of a list, page by page."""
    found: list = []
    while True:
        page = call("GET", *parts, query={**(query or {}), "limit": _PAGE, "offset": len(found)})
        found += page[name]
        if len(page[name]) < _PAGE:
            return found
