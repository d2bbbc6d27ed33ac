"""FSHook: a base path kept in a connection."""

from __future__ import annotations

import os

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

    def test_connection(self) -> tuple:
        path = self.get_path()
        if not path:
            return False, "the connection has no path: set its extra field `path`"
        if not os.path.exists(path):
            return False, f"the path {path} does not exist"
        return True, f"the path {path} exists"

    def get_path(self) -> str:
        """The connection's `path` extra; without such a connection, paths are taken as they are."""
        from svc_runtime.exceptions import AirflowNotFoundException

        try:
            connection = self.get_connection(self.fs_conn_id)
        except AirflowNotFoundException:
            return "/"
        return connection.extra_dejson.get("path", "/")
