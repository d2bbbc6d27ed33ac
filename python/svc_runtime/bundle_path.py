"""What a DAG file finds on the path and in its environment, the same while it is compiled and while its tasks run.

A file that belongs to no repository has its own folder and the DAGs folder before everything else. In a repository it is
as Airflow has it: the folders stand behind the installed packages, in the order that the artifact names them; a zipped DAG
file stands before them. `name=folder` among them is a folder that is imported under another name (import_names.py).

The working directory is the repository, which stands for Airflow's home, where images of Airflow start.
"""

from __future__ import annotations

import contextlib
import os
import sys

from . import import_names

# What paths of the version are relative to: of a repository its root, else the DAGs folder.
ROOT = "SVC_PROJECT_ROOT"


def project_root(otherwise: str) -> str:
    return os.environ.get(ROOT) or otherwise


def enter(*, path: str, root: str, bundle: dict | None) -> None:
    os.environ[ROOT] = root
    if not bundle:
        _put_first([os.path.dirname(path), root])
        os.environ["SVC_DAGS_FOLDER"] = root
        return
    dags = _inside(root, bundle["dags"])
    named = dict(name.split("=", 1) for name in bundle["import_roots"] if "=" in name)
    import_names.install({name: _inside(root, folder) for name, folder in named.items()})
    roots = [_inside(root, name) for name in bundle["import_roots"] if "=" not in name]
    archives = [place for place in roots if place.endswith(".zip")]
    _put_first(archives)
    # Its own folder comes last: Airflow does not have it, but whoever started it may.
    beside = [] if archives else [os.path.dirname(path)]
    for place in (*(place for place in roots if place not in archives), *beside):
        if place not in sys.path:
            sys.path.append(place)
    with contextlib.suppress(OSError):  # a worker that has no checkout loads the file from its version
        os.chdir(root)
    os.environ["SVC_DAGS_FOLDER"] = dags
    os.environ["AIRFLOW_HOME"] = root
    os.environ["AIRFLOW__CORE__DAGS_FOLDER"] = dags
    plugins = bundle["plugins"]
    if plugins:
        os.environ["AIRFLOW__CORE__PLUGINS_FOLDER"] = _inside(root, plugins[0])


def _inside(root: str, name: str) -> str:
    return os.path.normpath(os.path.join(root, name))


def _put_first(places: list) -> None:
    for place in places:
        if place in sys.path:
            sys.path.remove(place)
        sys.path.insert(0, place)
