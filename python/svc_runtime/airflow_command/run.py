"""From arguments to an exit code."""

from __future__ import annotations

import os
import sys

from .arguments import parse
from .errors import CommandError
from .of_task import Refused
from .output import say


def run(words: list) -> int:
    try:
        arguments = parse(words)
        if arguments.group == "version":
            say(_version())
        else:
            arguments.run(arguments)
    except CommandError as error:
        sys.stderr.write(f"airflow: {error}\n")
        return error.code
    except Refused as refusal:
        sys.stderr.write(f"airflow: {refusal}\n")
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _version() -> str:
    """Of the package `airflow` next to ours, without importing it."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(package, "airflow", "__init__.py"), encoding="utf-8") as file:
        line = next(line for line in file if line.startswith("__version__"))
    return line.split('"')[1]
