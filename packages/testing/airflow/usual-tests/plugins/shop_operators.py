"""Operators of the shop."""

from __future__ import annotations

from airflow.sdk import BaseHook, BaseOperator


class ShopHook(BaseHook):
    def __init__(self, conn_id: str = "shop") -> None:
        super().__init__()
        self.conn_id = conn_id

    def address(self) -> str:
        connection = self.get_connection(self.conn_id)
        return f"{connection.host}:{connection.port}"


class CentsToEurosOperator(BaseOperator):
    template_fields = ("cents",)

    def __init__(self, *, cents: int | str, **kwargs) -> None:
        super().__init__(**kwargs)
        self.cents = cents

    def execute(self, context) -> float:
        self.log.info("converting %s", self.cents)
        return int(self.cents) / 100


class UploadOperator(BaseOperator):
    """Sends what a hook is told to; the hook is replaced in tests."""

    template_fields = ("key",)

    def __init__(self, *, key: str, conn_id: str = "shop", **kwargs) -> None:
        super().__init__(**kwargs)
        self.key = key
        self.conn_id = conn_id

    def execute(self, context) -> str:
        return f"{ShopHook(self.conn_id).address()}/{self.key}"
