"""Examples make connections by the API of the deployment they run in. Here all of them are there before: looked up, never made."""


def create_airflow_connection(connection_id, connection_conf=None, **_):
    from airflow.sdk import BaseHook

    print("there already:", BaseHook.get_connection(connection_id).conn_id)


def delete_airflow_connection(**_): ...


def make_authenticated_rest_api_request(path, method, body=None):
    if path == "/api/v2/connections" and method == "POST":
        return create_airflow_connection(body["connection_id"])
    if path.startswith("/api/v2/connections/") and method == "DELETE":
        return None
    raise RuntimeError("the examples ask no server here")
