"""Compares our specs with the golden files made from real Airflow and prints a table of differences.

python golden/compare.py [dags folder] [golden folder]
"""

from __future__ import annotations

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.dirname(HERE))

from normal_form import compare  # noqa: E402
from svc_extract import normal_form  # noqa: E402

TESTS = os.path.join(os.path.dirname(HERE), "tests")


def explained() -> list:
    """Rows of [file, path pattern, reason]; a `*` in a pattern stands for any one part of a path."""
    with open(os.path.join(HERE, "explained.json"), encoding="utf-8") as file:
        return json.load(file)


def _matches(pattern: str, path: str) -> bool:
    import fnmatch

    return fnmatch.fnmatchcase(path, pattern)


def compile_all(folder: str) -> dict:
    """File name → answer, through the real compile server."""
    from svc_runtime.compile.preload import preload
    from svc_runtime.compile_server import Server

    preload()
    server = Server()
    names = [name for name in sorted(os.listdir(folder)) if name.endswith(".py")]
    answers: dict = {}
    for name in names:
        server.submit({"id": name, "path": os.path.join(folder, name), "dags_folder": folder})
    while len(answers) < len(names):
        for text in server.step():
            answer = json.loads(text)
            answers[answer["id"]] = answer
    return answers


def differences(folder: str, golden: str) -> list:
    """(file, path, ours, Airflow's, reason or None)"""
    rows = []
    table = explained()
    for name, answer in compile_all(folder).items():
        golden_path = os.path.join(golden, name[:-3] + ".json")
        if not os.path.exists(golden_path):
            rows.append((name, "", "compiled", "<no golden file>", None))
            continue
        with open(golden_path, encoding="utf-8") as file:
            theirs = json.load(file)
        if not answer["ok"]:
            error = answer["error"]
            rows.append(
                (name, "error", f"{error['message']} (line {error['line']})", theirs["errors"] or "no error", None)
            )
            continue
        ours = {entry["dag_id"]: json.loads(json.dumps(normal_form(entry["spec"]))) for entry in answer["dags"]}
        found: list = []
        compare("", ours, theirs["dags"], found)
        for path, mine, other in found:
            reason = next(
                (why for file, pattern, why in table if _matches(file, name) and _matches(pattern, path)), None
            )
            rows.append((name, path, mine, other, reason))
    return rows


def render(rows: list) -> str:
    """The differences as a table: where, what each side says, and why that is so."""
    header = ("file", "where", "here", "Airflow 3.2.2", "reason")
    cells = [
        header,
        *(
            (name, path, _short(mine), _short(other), reason or "UNEXPLAINED")
            for name, path, mine, other, reason in rows
        ),
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    unexplained = sum(1 for row in rows if row[4] is None)
    return "\n".join([*lines, f"{len(rows)} differences, {unexplained} unexplained"])


def _short(value) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."


if __name__ == "__main__":
    folder = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(TESTS, "dags"))
    golden = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else os.path.join(TESTS, "golden"))
    rows = differences(folder, golden)
    print(render(rows))
    sys.exit(1 if any(row[4] is None for row in rows) else 0)
