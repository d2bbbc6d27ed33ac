"""Exercises every operation that both the official client and the server have; prints which, as JSON.

    python main.py <base url>      tokens in the environment: TOKEN of an administrator, VIEWER_TOKEN of a viewer
"""

import json
import os
import sys

import admin
import assets
import backfills
import connections
import dag_runs
import dags
import logs_xcoms
import monitoring
import pools
import task_instances
import variables
from harness import Harness, client_operations, served_operations

# One module per resource. An endpoint added to the server that the client knows too has to be called from one of them.
MODULES = (
    admin,
    connections,
    variables,
    pools,
    assets,
    backfills,
    dag_runs,
    logs_xcoms,
    task_instances,
    dags,
    monitoring,
)


def main():
    harness = Harness(sys.argv[1], os.environ["TOKEN"], os.environ["VIEWER_TOKEN"])
    for module in MODULES:
        module.exercise(harness)
    operations = client_operations()
    served = served_operations(harness.base_url)
    report = {
        "client_operations": len(operations),
        "served_by_both": sorted(name for key, name in operations.items() if key in served),
        "exercised": sorted(operations[key] for key in harness.called),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
