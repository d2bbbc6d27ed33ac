"""Commands of Airflow that this program does not have, and what to use in their place."""

from __future__ import annotations

INSTEAD = {
    "api-server": "svc server",
    "assets": "GET /api/v2/assets of the API",
    "backfill": "svc backfill",
    "cheat-sheet": "svc help",
    "config": "svc config",
    "connections add": "svc connections set",
    "connections create-default-connections": "POST /api/v2/connections/defaults of the API",
    "connections delete": "svc connections delete",
    "connections export": "svc connections export",
    "connections import": "svc connections import",
    "connections test": "POST /api/v2/connections/test of the API",
    "dag-processor": "svc server",
    "dags backfill": "svc backfill create",
    "dags delete": "svc dags delete",
    "dags details": "svc dags show",
    "dags list-import-errors": "svc validate",
    "dags next-execution": "svc dags show",
    "dags report": "svc validate",
    "dags reserialize": "svc deploy",
    "dags show": "svc dags show",
    "dags test": "svc runs trigger --wait",
    "db": "svc db",
    "info": "svc doctor",
    "kubernetes": "kubectl",
    "plugins": "GET /api/v2/plugins of the API",
    "pools export": "svc pools list --json",
    "pools import": "svc import",
    "providers": "GET /api/v2/providers of the API",
    "roles": "svc users",
    "rotate-fernet-key": "svc secrets",
    "scheduler": "svc server",
    "standalone": "svc lite",
    "tasks list": "svc dags show",
    "tasks render": "the web UI, which shows the rendered fields of each task instance",
    "tasks run": "svc runs trigger",
    "tasks states-for-dag-run": "svc runs show",
    "tasks test": "svc runs trigger --wait",
    "triggerer": "svc server",
    "users": "svc users",
    "variables export": "svc variables export",
    "variables import": "svc variables import",
    "webserver": "svc server",
}


def instead_of(words: list) -> str:
    for length in (2, 1):
        found = INSTEAD.get(" ".join(words[:length]))
        if found is not None:
            return f"use {found}"
    return 'see "svc help"'
