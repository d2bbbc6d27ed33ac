"""Profile mappings of astronomer-cosmos: which adapter, which connection. What is in a profile comes from the connection when a
task runs (svc_runtime/dbt/profiles.py), whatever way of signing in the name of the class promises."""

from __future__ import annotations

from svc_runtime.exceptions import RecordingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ADAPTERS = {
    "Postgres": "postgres",
    "Redshift": "redshift",
    "Snowflake": "snowflake",
    "GoogleCloud": "bigquery",
    "Databricks": "databricks",
    "DuckDB": "duckdb",
}


class BaseProfileMapping:
    adapter = ""

    def __init__(self, conn_id: str, profile_args: dict | None = None, **kwargs: Any) -> None:
        for name, value in kwargs.items():
            if value not in (None, False) and name != "disable_event_tracking":
                raise RecordingError(
                    f"{type(self).__name__}({name}=…) is not supported here", "Leave it out, or say it in profile_args"
                )
        self.conn_id = conn_id
        self.profile_args = dict(profile_args or {})


def __getattr__(name: str) -> Any:
    if not name.endswith("ProfileMapping"):
        raise AttributeError(name)
    for prefix, adapter in _ADAPTERS.items():
        if name.startswith(prefix):
            made = type(name, (BaseProfileMapping,), {"adapter": adapter})
            globals()[name] = made
            return made
    raise RecordingError(
        f"{name} of astronomer-cosmos is not supported here",
        "Use a connection of type dbt, whose extra is an output of profiles.yml for any adapter, with svc's own dbt_group",
    )
