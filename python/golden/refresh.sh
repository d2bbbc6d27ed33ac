#!/bin/sh
# Rewrites python/tests/golden and python/tests/airflow_public_names.json from a real Airflow: golden/refresh.sh <python of an Airflow 3.2 environment>
set -eu
here=$(cd "$(dirname "$0")" && pwd)
AIRFLOW_HOME=${AIRFLOW_HOME:-$(mktemp -d)} "$1" "$here/airflow_extract.py" "$here/../tests/dags" "$here/../tests/golden"
AIRFLOW_HOME=${AIRFLOW_HOME:-$(mktemp -d)} "$1" "$here/public_names.py" "$here/../tests/airflow_public_names.json"
