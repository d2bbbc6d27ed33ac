from airflow.models import DagBag


def test_all_dags_load():
    assert DagBag().import_errors == {}
