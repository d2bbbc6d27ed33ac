"""Answers in the formats of Airflow's `--output`."""

from __future__ import annotations

import json
import sys

FORMATS = ("table", "json", "plain", "yaml")


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def show(rows: list, form: str) -> None:
    """Each row has the same keys."""
    if form == "json":
        say(json.dumps(rows))
    elif form == "yaml":
        for row in rows:
            for number, (name, value) in enumerate(row.items()):
                say(f"{'-' if number == 0 else ' '} {name}: {json.dumps(value)}")
    elif not rows:
        say("No data found")
    else:
        _table(rows, " | " if form == "table" else " ", has_rule=form == "table")


def _table(rows: list, between: str, *, has_rule: bool) -> None:
    names = list(rows[0])
    cells = [names, *([_text(row[name]) for name in names] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(names))]
    for number, row in enumerate(cells):
        say(between.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        if number == 0 and has_rule:
            say("=+=".join("=" * width for width in widths))


def _text(value) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
