"""Helpers of the tests: compile a text or a file through the real server, in a forked child."""

from __future__ import annotations

import functools
import json
import os
import tempfile

from svc_runtime.compile.preload import preload
from svc_runtime.compile_server import Server


@functools.cache
def _load_once() -> None:
    """As the real server does before its first child: each child would otherwise import everything again."""
    preload()


def make_server(**options) -> Server:
    """A compile server whose children find the common modules loaded, as those of the real one do."""
    _load_once()
    return Server(**options)


# It ends only a file that hangs: the limit of the product is too short for a busy machine.
_PATIENT = {"wall_seconds": 600}


def compile_path(path: str, folder: str | None = None, **limits) -> dict:
    server = make_server()
    limits = {**_PATIENT, **limits}
    server.submit({"id": 1, "path": path, "dags_folder": folder or os.path.dirname(path), "limits": limits})
    while not (answers := server.step()):
        pass
    return json.loads(answers[0])


def compile_text(text: str, **limits) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "dag.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return compile_path(path, folder, **limits)


def compile_texts(*texts: str) -> list:
    """Through one server, one after the other; exactly one answer each, in the order asked."""
    with tempfile.TemporaryDirectory() as folder:
        server = make_server()
        for number, text in enumerate(texts):
            path = os.path.join(folder, f"dag_{number}.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            server.submit({"id": number, "path": path, "dags_folder": folder, "limits": _PATIENT})
        answers: list = []
        while server.jobs or server.waiting:
            answers += [json.loads(text) for text in server.step()]
        assert [answer["id"] for answer in answers] == list(range(len(texts))), answers
        return answers


def spec_of(text: str) -> dict:
    answer = compile_text(text)
    assert answer["ok"], answer["error"]
    assert len(answer["dags"]) == 1, [dag["dag_id"] for dag in answer["dags"]]
    return answer["dags"][0]["spec"]


def tasks_of(text: str) -> dict:
    return {task["task_id"]: task for task in spec_of(text)["tasks"]}
