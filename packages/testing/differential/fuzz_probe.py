"""Imported by generated DAG files, on Airflow and here: records what tasks received and which callbacks were called."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

from airflow.sdk import BaseOperator, BaseSensorOperator
from airflow.triggers.base import BaseTrigger, TriggerEvent

PLAIN = (type(None), bool, int, float, str)


def typed(value):
    """A value with its types, as JSON. What stands for the output of mapped tasks has another class on each side."""
    kind = type(value)
    if kind in PLAIN:
        return repr(value)
    if kind is list:
        return [typed(item) for item in value]
    if kind is dict:
        return {"dict": [[typed(key), typed(item)] for key, item in value.items()]}
    if isinstance(value, (set, frozenset)):
        return {kind.__name__: sorted((typed(item) for item in value), key=json.dumps)}
    if isinstance(value, tuple):
        return {kind.__name__: [typed(item) for item in value]}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return {"sequence": [typed(item) for item in value]}
    if isinstance(value, Mapping):
        return {"mapping": [[typed(key), typed(value[key])] for key in value]}
    return {kind.__name__: str(value)}


def record(ti, what, facts) -> None:
    line = {"task": ti.task_id, "index": ti.map_index, "try": ti.try_number, "what": what, "facts": facts}
    path = os.path.join(os.environ["FUZZ_LOG"], f"{ti.dag_id}.jsonl")
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def note(ti, **given) -> None:
    record(ti, "received", {name: typed(value) for name, value in given.items()})


def count(ti, what) -> int:
    """How often this instance has written so before."""
    path = os.path.join(os.environ["FUZZ_LOG"], f"{ti.dag_id}.jsonl")
    if not os.path.exists(path):
        return 0
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return sum((line["task"], line["index"], line["what"]) == (ti.task_id, ti.map_index, what) for line in lines)


def called(name):
    """A callback that writes down that it was called, and with what."""

    def callback(context):
        exception = context.get("exception")
        record(context["ti"], name, {"exception": type(exception).__name__, "reason": context.get("reason")})

    callback.__name__ = name
    return callback


def before(context):
    record(context["ti"], "pre_execute", None)


def after(context, result=None):
    record(context["ti"], "post_execute", typed(result))


class Echo(BaseOperator):
    template_fields = ("text", "more")

    def __init__(self, *, text=None, more=None, plain=None, **kwargs):
        super().__init__(**kwargs)
        self.text = text
        self.more = more
        self.plain = plain

    def execute(self, context):
        note(context["ti"], text=self.text, more=self.more, plain=self.plain)
        return [self.text, self.more]


class Wait(BaseSensorOperator):
    """Is done at the second look; never, where `never`."""

    template_fields = ("what",)

    def __init__(self, *, what=None, never=False, **kwargs):
        super().__init__(**kwargs)
        self.what = what
        self.never = never

    def poke(self, context):
        from airflow.sdk.bases.sensor import PokeReturnValue

        ti = context["ti"]
        looked = count(ti, "poke")
        record(ti, "poke", typed(self.what))
        return PokeReturnValue(is_done=looked > 0 and not self.never, xcom_value=[self.what, "seen"])


class Soon(BaseTrigger):
    def __init__(self, payload):
        super().__init__()
        self.payload = payload

    def serialize(self):
        return ("fuzz_probe.Soon", {"payload": self.payload})

    async def run(self):
        yield TriggerEvent({"payload": self.payload})


class Defers(BaseOperator):
    template_fields = ("payload",)

    def __init__(self, *, payload=None, fails=False, **kwargs):
        super().__init__(**kwargs)
        self.payload = payload
        self.fails = fails

    def execute(self, context):
        note(context["ti"], payload=self.payload)
        self.defer(trigger=Soon(self.payload), method_name="resume")

    # `DAG.test()` forgets other arguments that a task defers with.
    def resume(self, context, event=None):
        record(context["ti"], "resumed", typed(event))
        if self.fails:
            raise ValueError("planned")
        return [event["payload"], "resumed"]
