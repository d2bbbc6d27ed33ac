"""FSHook: a base path kept in a connection."""

from __future__ import annotations

from svc_runtime.run.hooks import BaseHook


class FSHook(BaseHook):
    conn_name_attr = "fs_conn_id"
    default_conn_name = "fs_default"
    conn_type = "fs"
    hook_name = "File (path)"

    def __init__(self, fs_conn_id: str = "fs_default", **kwargs) -> None:
        super().__init__(**kwargs)
        self.fs_conn_id = fs_conn_id

    def get_conn(self) -> None:
        return None

    def get_path(self) -> str:
        """The connection's `path` extra; without such a connection, paths are taken as they are."""
        from svc_runtime.exceptions import AirflowNotFoundException

        try:
            connection = self.get_connection(self.fs_conn_id)
        except AirflowNotFoundException:
            return "/"
        return connection.extra_dejson.get("path", "/")
