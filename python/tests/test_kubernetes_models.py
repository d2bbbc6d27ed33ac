"""Models of the Kubernetes client in DAG files: compiled as they are, and loaded where the client is not installed."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from .run_agent import Agent
from .support import tasks_of

DAG = """
from kubernetes.client import models as k8s
from kubernetes.client import V1EnvVar
from airflow.sdk import DAG, task

pod = k8s.V1Pod(spec=k8s.V1PodSpec(containers=[k8s.V1Container(name="base", env=[])]))
pod.metadata = k8s.V1ObjectMeta(labels={"team": "x"})
pod.spec.containers[0].env.append(V1EnvVar(name="A", value="1"))
pod.spec.node_selector = {"disk": "ssd"}

with DAG("d", schedule=None):
    @task(executor_config={"pod_override": pod})
    def body():
        import importlib.util
        import sys
        found = importlib.util.find_spec("kubernetes")
        return [found is None, "kubernetes" in sys.modules, pod.spec.containers[0].name, pod.status]
    body()
"""

# The shape of the classes of the package itself, as the client of OpenAPI makes them.
REAL = """
from airflow.sdk import DAG, task

class V1Container:
    openapi_types = {"name": "str", "image": "str"}
    attribute_map = {"name": "name", "image": "image"}
    def __init__(self, name=None, image=None):
        self._name, self._image = name, image
    name = property(lambda self: self._name)
    image = property(lambda self: self._image)

with DAG("d", schedule=None):
    @task(executor_config={"pod_override": {"spec": {"containers": [V1Container("base")]}}})
    def body():
        pass
    body()
"""


class Compiled(unittest.TestCase):
    def test_what_a_file_changes_in_a_model_is_not_lost(self) -> None:
        override = tasks_of(DAG)["body"]["executor_config"]["pod_override"]["kwargs"]
        self.assertEqual(override["metadata"]["kwargs"], {"labels": {"team": "x"}})
        spec = override["spec"]["kwargs"]
        self.assertEqual(spec["node_selector"], {"disk": "ssd"})
        self.assertEqual(spec["containers"][0]["kwargs"]["env"][0]["kwargs"], {"name": "A", "value": "1"})

    def test_a_real_model_has_its_fields(self) -> None:
        containers = tasks_of(REAL)["body"]["executor_config"]["pod_override"]["spec"]["containers"]
        self.assertEqual([item["kwargs"] for item in containers], [{"name": "base"}])


class Run(unittest.TestCase):
    def test_a_file_that_names_models_needs_no_package(self) -> None:
        with Agent.ready(DAG) as agent:
            attempt = agent.run("body")
            # For whoever asks from elsewhere, or later, it is not there.
            self.assertEqual(attempt.value(), [True, False, "base", None], attempt.text())

    def test_what_needs_the_package_says_so(self) -> None:
        for statement in (
            "from kubernetes import config",
            "import kubernetes.config",
            "from kubernetes.client import CoreV1Api",
            "from kubernetes.client.models import V1Pod\nV1Pod().to_dict()",
        ):
            with self.subTest(statement), Agent(f"{statement}\n") as agent:
                self.assertIn("add kubernetes to the dependencies", agent.loaded["error"])

    def test_a_library_that_looks_for_the_package_does_not_find_it(self) -> None:
        library = "try:\n    import kubernetes\n    found = True\nexcept ImportError:\n    found = False\n"
        with tempfile.TemporaryDirectory() as elsewhere:
            Path(elsewhere, "library_of_others.py").write_text(library, encoding="utf-8")
            text = f"""
                import sys
                sys.path.insert(0, {elsewhere!r})
                import library_of_others
                from airflow.sdk import DAG, task
                with DAG("d", schedule=None):
                    @task
                    def body():
                        return library_of_others.found
                    body()
            """
            with Agent.ready(text) as agent:
                self.assertEqual(agent.run("body").value(), False)


if __name__ == "__main__":
    unittest.main()
