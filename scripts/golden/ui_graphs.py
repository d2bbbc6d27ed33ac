"""Runs inside an Airflow 3.2 environment: writes what its API answers for the graph and the grid of DAGs.

    <airflow environment>/bin/python scripts/golden/ui_graphs.py <output file> <DAG file> ...

The files are taken in as Airflow's own processor would, on a scratch database, and the answers are those of its API server,
called without a network. Nulls are left out, as Airflow does in most of these answers.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile


def prepare(home: str, dags_folder: str) -> None:
    """Airflow reads these when it is imported."""
    os.environ.update(
        AIRFLOW_HOME=home,
        AIRFLOW__CORE__DAGS_FOLDER=dags_folder,
        AIRFLOW__CORE__LOAD_EXAMPLES="False",
        AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS="True",
        AIRFLOW__LOGGING__LOGGING_LEVEL="ERROR",
        AIRFLOW__LOGGING__BASE_LOG_FOLDER=os.path.join(home, "logs"),
    )
    sys.path.insert(0, dags_folder)
    from airflow.__main__ import main as airflow

    for command in ("db migrate", "dags reserialize"):
        sys.argv = ["airflow", *command.split()]
        airflow()


def without_nulls(value):
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def main(output: str, files: list[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        dags_folder = os.path.join(scratch, "dags")
        os.mkdir(dags_folder)
        for file in files:
            shutil.copy(file, dags_folder)
        prepare(os.path.join(scratch, "home"), dags_folder)
        from airflow.api_fastapi.app import create_app
        from fastapi.testclient import TestClient

        # Some answers Airflow cannot give (500): those are not in the file.
        with TestClient(create_app(apps="core"), raise_server_exceptions=False) as client:
            client.headers["Authorization"] = f"Bearer {client.get('/auth/token').json()['access_token']}"

            def get(path: str, **query):
                answer = client.get(path, params=query)
                if answer.status_code == 500:
                    return None
                if answer.status_code != 200:
                    sys.exit(f"{path} {query}: {answer.status_code} {answer.text}")
                return without_nulls(answer.json())

            golden = {}
            for dag in get("/api/v2/dags", limit=1000)["dags"]:
                dag_id = dag["dag_id"]
                golden[dag_id] = {
                    "structure": get("/ui/structure/structure_data", dag_id=dag_id),
                    "external": get("/ui/structure/structure_data", dag_id=dag_id, external_dependencies=True),
                    "grid": get(f"/ui/grid/structure/{dag_id}"),
                    "next_run_assets": get(f"/ui/next_run_assets/{dag_id}"),
                    "asset_expression": get(f"/api/v2/dags/{dag_id}/details").get("asset_expression"),
                }
            assets = {asset["id"]: asset["name"] for asset in get("/api/v2/assets", limit=1000)["assets"]}
            golden["*"] = {
                "assets": {str(number): name for number, name in assets.items()},
                "scheduling": get("/ui/dependencies"),
                "data": {
                    name: get("/ui/dependencies", dependency_type="data", node_id=f"asset:{number}")
                    for number, name in assets.items()
                },
            }
    with open(output, "w", encoding="utf-8") as file:
        json.dump(golden, file, indent=1, sort_keys=True, ensure_ascii=False)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
