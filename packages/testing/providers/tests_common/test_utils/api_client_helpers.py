def create_airflow_connection(**_):
    raise RuntimeError("the examples create no connections here")


def delete_airflow_connection(**_):
    raise RuntimeError("the examples create no connections here")


def make_authenticated_rest_api_request(**_):
    raise RuntimeError("the examples ask no server here")
