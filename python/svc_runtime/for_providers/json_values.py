"""`airflow.utils.json`: encoder and decoder of values between tasks."""

from __future__ import annotations

import json

from ..run.xcom_values import decode, encode


class XComEncoder(json.JSONEncoder):
    def default(self, o):
        return encode(o)

    def encode(self, o) -> str:
        return super().encode(encode(o))


class XComDecoder(json.JSONDecoder):
    def __init__(self, *args, **kwargs) -> None:
        kwargs["object_hook"] = self.object_hook
        super().__init__(*args, **kwargs)

    @staticmethod
    def object_hook(dct: dict):
        return decode(dct)


WebEncoder = AirflowJsonEncoder = XComEncoder
