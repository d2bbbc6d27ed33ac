"""Calls through the official client, and a record of which of its operations were called.

An operation counts as exercised when its answer was parsed into the client's own model, or when it was refused with the
exception class the client has for that status.
"""

import inspect
import json
import re
import urllib.request
from contextlib import contextmanager
from datetime import datetime

import airflow_client.client as airflow
import airflow_client.client.api as apis
from pydantic import BaseModel
from pydantic_core import to_jsonable_python


def shape(path):
    """Both documents write /things/{name}, with names of their own."""
    return re.sub(r"\{[^}]*\}", "{}", path)


def client_operations():
    """(method, shape of the path) -> name of every operation the client has."""
    found = {}
    for name, api in inspect.getmembers(apis, inspect.isclass):
        for source in inspect.getsource(api).split("\n    def _")[1:]:
            operation = re.match(r"(\w+)_serialize\(", source)
            if not operation:
                continue
            method = re.search(r"method='(\w+)'", source)[1]
            path = re.search(r"resource_path='([^']+)'", source)[1]
            found[(method, shape(path))] = f"{name}.{operation[1]}"
    return found


def served_operations(base_url):
    """(method, shape of the path) of everything the server's own document lists."""
    with urllib.request.urlopen(f"{base_url}/openapi.json") as answer:
        paths = json.load(answer)["paths"]
    return {(method.upper(), shape(path)) for path, methods in paths.items() for method in methods}


class RecordingClient(airflow.ApiClient):
    """Notes each operation that is called, by its template and not by its filled-in path, and inspects each answer."""

    def __init__(self, configuration, called):
        super().__init__(configuration)
        self.called = called

    def param_serialize(self, method, resource_path, *args, **kwargs):
        self.called.add((method, shape(resource_path)))
        return super().param_serialize(method, resource_path, *args, **kwargs)

    def response_deserialize(self, response_data, response_types_map=None):
        answer = super().response_deserialize(response_data, response_types_map)
        if isinstance(answer.data, BaseModel):
            complete(answer.data, json.loads(response_data.data), type(answer.data).__name__)
        return answer


# What the server leaves out on purpose: a password is never returned, not even masked.
LEFT_OUT = {"ConnectionResponse.password"}


def complete(model, raw, where):
    """Every field of Airflow's model is in the answer, null where there is nothing, and arrived as it was sent."""
    if hasattr(model, "actual_instance"):  # one of several models
        return
    for name, field in type(model).model_fields.items():
        key = field.alias or name
        # The client collects what it does not know in the last one.
        if f"{type(model).__name__}.{key}" in LEFT_OUT or key == "additional_properties":
            continue
        assert key in raw, f"{where} has no {key}"
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            complete(value, raw[key], f"{where}.{key}")
        elif isinstance(value, list) and value and isinstance(value[0], BaseModel):
            same(len(value), len(raw[key]))
            for item, raw_item in zip(value, raw[key]):
                complete(item, raw_item, f"{where}.{key}[]")
        elif isinstance(value, datetime):
            same(value, datetime.fromisoformat(raw[key].replace("Z", "+00:00")))
        else:
            same(to_jsonable_python(value), raw[key])


class Harness:
    def __init__(self, base_url, token, viewer_token):
        self.base_url = base_url
        self.called = set()
        self.client = self._client(token)
        self.viewer = self._client(viewer_token)
        self.stranger = self._client("not.a.token")

    def _client(self, token):
        return RecordingClient(airflow.Configuration(host=self.base_url, access_token=token), self.called)

    @contextmanager
    def refused(self, exception, detail=""):
        """The body must raise exactly this exception, with a problem body that says why."""
        try:
            yield
        except airflow.ApiException as error:
            assert type(error) is exception, f"{type(error).__name__} instead of {exception.__name__}: {error}"
            problem = json.loads(error.body)
            assert set(problem) == {"type", "title", "status", "detail", "instance"}, problem
            assert problem["status"] == error.status, problem
            assert detail in problem["detail"], problem
        else:
            raise AssertionError(f"{exception.__name__} expected")


def same(actual, expected):
    assert actual == expected, f"{actual!r} instead of {expected!r}"
