"""Compiles the example DAGs of provider packages and prints one JSON line for each file, with how it went.

    PYTHONPATH=python <environment>/bin/python packages/testing/providers/compile_examples.py <folder> …

A folder is an unpacked source package; its examples are `tests/system/**/example_*.py`. What they import of providers is loaded
once for all of them, before the first fork: some of it takes seconds.
"""

from __future__ import annotations

import ast
import contextlib
import glob
import importlib
import json
import os
import shutil
import sys
import warnings

from svc_runtime.compile_server import Server

HERE = os.path.dirname(os.path.abspath(__file__))
# Examples read the account they would run in from the environment.
SETTINGS = {"SYSTEM_TESTS_ENV_ID": "example", "SYSTEM_TESTS_GCP_PROJECT": "example", "SYSTEM_TESTS_PROJECT_ID": "example"}
LIMITS = {"wall_seconds": 600, "cpu_seconds": 300, "memory_bytes": 8 << 30}


def examples(folder: str) -> list[str]:
    return sorted(glob.glob(os.path.join(folder, "tests", "system", "**", "example_*.py"), recursive=True))


def load_ahead(files: list[str]) -> None:
    import airflow  # noqa: F401  installs the import paths
    from svc_runtime.record import provider_stubs

    provider_stubs.install()
    wanted: set[str] = set()
    for path in files:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("airflow.providers."):
                wanted.add(node.module or "")
    for name in sorted(wanted):
        with contextlib.suppress(BaseException):  # the file that imports it will say it
            importlib.import_module(name)


def compile_folder(folder: str) -> None:
    files = examples(folder)
    if not files:
        return
    root = os.path.join(folder, "tests")
    shutil.copytree(os.path.join(HERE, "tests_common"), os.path.join(root, "tests_common"), dirs_exist_ok=True)
    load_ahead(files)
    server = Server(2)
    for number, path in enumerate(files):
        server.submit({"id": number, "path": path, "dags_folder": root, "limits": LIMITS})
    left = len(files)
    while left > 0:
        for answer in map(json.loads, server.step()):
            _say(folder, files[answer["id"]], answer)
            left -= 1


def _say(folder: str, path: str, answer: dict) -> None:
    about = {"package": os.path.basename(folder), "file": os.path.relpath(path, folder), "ok": answer["ok"]}
    if answer["ok"]:
        found = {"dags": len(answer["dags"])}
    else:
        found = {name: answer["error"][name] for name in ("type", "message", "line", "instead")}
    sys.stdout.write(json.dumps({**about, **found}) + "\n")
    sys.stdout.flush()


def main(folders: list[str]) -> None:
    warnings.simplefilter("ignore")
    os.environ.update({name: os.environ.get(name, value) for name, value in SETTINGS.items()})
    for folder in folders:
        # One process for each package: what one has loaded must not help the next.
        pid = os.fork()
        if pid == 0:
            compile_folder(os.path.abspath(folder))
            os._exit(0)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
