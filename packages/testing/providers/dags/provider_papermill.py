import json
import os
import tempfile

from airflow.providers.papermill.operators.papermill import PapermillOperator
from airflow.sdk import DAG, task

FOLDER = tempfile.gettempdir()
GIVEN, MADE = (os.path.join(FOLDER, f"svc-provider-{name}.ipynb") for name in ("given", "made"))


def cell(number, source, tags=()):
    about = {"cell_type": "code", "execution_count": None, "id": f"cell-{number}", "outputs": []}
    return {**about, "metadata": {"tags": list(tags)}, "source": source}


with DAG("provider_papermill", schedule=None):

    @task
    def write():
        cells = [cell(1, "name = 'nobody'", ["parameters"]), cell(2, "print('hello', name)")]
        with open(GIVEN, "w", encoding="utf-8") as file:
            json.dump({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, file)

    notebook = PapermillOperator(
        task_id="notebook",
        input_nb=GIVEN,
        output_nb=MADE,
        parameters={"name": "{{ run_id }}"},
        kernel_name="python3",
        language_name="python",
    )

    @task
    def read(made):
        with open(made.url, encoding="utf-8") as file:
            cells = json.load(file)["cells"]
        return ["".join(output["text"]) for one in cells for output in one["outputs"] if "text" in output]

    write() >> notebook
    read(notebook.output)
