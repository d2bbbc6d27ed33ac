"""The arguments of the commands, with Airflow's names."""

from __future__ import annotations

import argparse
import sys

from . import connections, dags, pools, tasks, variables
from .elsewhere import instead_of
from .errors import CommandError
from .output import FORMATS


class _Parser(argparse.ArgumentParser):
    def error(self, message: str):
        raise CommandError(f"{message}\n{self.format_usage().strip()}", 2)


def parse(words: list) -> argparse.Namespace:
    parser = _Parser(prog="airflow", description="The commands of Airflow that people script, for svc.")
    groups = parser.add_subparsers(dest="group", metavar="COMMAND", parser_class=_Parser)
    known: dict = {"version": set()}
    groups.add_parser("version", help="print the version of Airflow that svc is compatible with")
    for name, module in (
        ("connections", connections),
        ("dags", dags),
        ("pools", pools),
        ("tasks", tasks),
        ("variables", variables),
    ):
        group = groups.add_parser(name, help=module.__doc__)
        commands = group.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
        module.add(commands)
        known[name] = set(commands.choices)
        for command in commands.choices.values():
            command.add_argument("-o", "--output", choices=FORMATS, default="table")
            command.add_argument("-v", "--verbose", action="store_true", help=argparse.SUPPRESS)
    plain = [word for word in words if not word.startswith("-")][:2]
    if not plain:
        parser.print_help(sys.stdout if words else sys.stderr)
        raise SystemExit(0 if words else 2)
    if plain[0] not in known or (len(plain) > 1 and known[plain[0]] and plain[1] not in known[plain[0]]):
        raise CommandError(f"svc has no command airflow {' '.join(plain)}: {instead_of(plain)}", 2)
    return parser.parse_args(words)
