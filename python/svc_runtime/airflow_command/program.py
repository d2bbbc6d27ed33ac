"""Started as a file by `bin/airflow`, and as `airflow` where the package is installed."""

from __future__ import annotations

import os
import sys


def main() -> None:
    from svc_runtime.airflow_command.run import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    # In front of the environment's packages: this file's own package, and not a real Airflow next to it.
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    main()
