"""What repositories have in this file: the folder of DAGs, variables, connections, and one DagBag for the session."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

os.environ["AIRFLOW__CORE__DAGS_FOLDER"] = str(ROOT / "dags")
os.environ["AIRFLOW__CORE__PLUGINS_FOLDER"] = str(ROOT / "plugins")
os.environ["AIRFLOW__CORE__UNIT_TEST_MODE"] = "True"
os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"
os.environ["AIRFLOW_VAR_CURRENCY"] = "CHF"
os.environ["AIRFLOW_CONN_SHOP"] = "http://user:secret@shop.example:8443"
sys.path.insert(0, str(ROOT / "plugins"))


@pytest.fixture(scope="session")
def dag_bag():
    from airflow.models import DagBag

    return DagBag(dag_folder=str(ROOT / "dags"), include_examples=False)


@pytest.fixture
def dag():
    import pendulum

    from airflow.sdk import DAG

    return DAG("of_a_test", schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"))


@pytest.fixture(autouse=True)
def _other_currency(monkeypatch, request):
    marker = request.node.get_closest_marker("currency")
    if marker is not None:
        monkeypatch.setenv("AIRFLOW_VAR_CURRENCY", marker.args[0])


def pytest_configure(config):
    config.addinivalue_line("markers", "currency(name): the currency of the shop")
