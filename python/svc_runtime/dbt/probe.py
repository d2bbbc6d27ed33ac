"""Reads a project with dbt and prints its graph: `python -m svc_runtime.dbt.probe REQUEST ANSWER`.

A program of its own, because it runs where dbt is installed, and because what dbt does to the process that it runs in (its
signals, its working directory, its 110 MB) is nothing a DAG file should find.

    REQUEST  {"project_dir", "scratch", "adapter", "profile_args", "target", "vars", "select", "exclude", "selector", "hash"}
    ANSWER   {"ok": true, "graph": {…}} or {"ok": false, "message": "…"}

No secret is at hand and nothing is connected to: a profile with nothing real in it stands for the one tasks will have. Only for an
adapter that we know no profile of, the project's own profiles.yml is used.
"""

from __future__ import annotations

import json
import os
import sys


def without_tracker() -> None:
    """dbt makes locks for processes it never starts, and Python starts a process that watches over them: some 50 ms, and not
    possible where the user may not execute the interpreter again (a compile by root, which steps down after it began)."""
    from multiprocessing import resource_tracker

    for name in ("register", "unregister", "ensure_running"):
        setattr(resource_tracker, name, lambda *_: None)


def common_arguments(request: dict) -> list[str]:
    arguments = ["--project-dir", request["project_dir"], "--target-path", request["scratch"]]
    arguments += ["--log-path", request["scratch"], "--log-level", "none", "--log-level-file", "none"]
    arguments += ["--no-use-colors", "--no-send-anonymous-usage-stats", "--no-version-check"]
    if request.get("profiles_dir"):
        arguments += ["--profiles-dir", request["profiles_dir"]]
    for name in ("profile", "target"):
        if request.get(name):
            arguments += [f"--{name}", request[name]]
    if request.get("vars"):
        arguments += ["--vars", json.dumps(request["vars"])]
    return arguments


def read_graph(request: dict) -> dict:
    without_tracker()
    from dbt.cli.main import dbtRunner

    from .graph import compact

    said: list[str] = []

    def listen(event) -> None:
        if event.info.level == "error":
            said.append(event.info.msg)

    arguments = common_arguments({**request, **_profile_for(request)})
    parsed = dbtRunner(callbacks=[listen]).invoke(["parse", "--no-partial-parse", "--no-write-json", *arguments])
    if not parsed.success:
        return {"ok": False, "message": _message(parsed, said)}
    manifest = parsed.result
    listing = ["ls", "--quiet", "--output", "json", "--output-keys", "unique_id", *arguments]
    if request.get("selector"):
        listing += ["--selector", request["selector"]]
    for name in ("select", "exclude"):
        if request.get(name):
            listing += [f"--{name}", *request[name]]
    listed = dbtRunner(manifest=manifest, callbacks=[listen]).invoke(listing)
    if not listed.success:
        return {"ok": False, "message": _message(listed, said)}
    selected = [json.loads(line)["unique_id"] for line in listed.result or []]
    written = manifest.writable_manifest().to_dict(omit_none=False)
    return {"ok": True, "graph": compact(written, selected=selected, project_hash=request["hash"])}


def _message(result, said: list[str]) -> str:
    found = str(result.exception) if result.exception is not None else ""
    return (found or "\n".join(said[-3:]) or "dbt gave no reason").strip()


class Unknown(Exception):
    """What only the author can say."""


def _profile_for(request: dict) -> dict:
    """Which profile dbt is given, and where it is."""
    from .profiles import STAND_INS, profiles_text, stand_in

    own = _own_profile(request["project_dir"])
    adapter = request.get("adapter") or own["type"] or _only_adapter()
    if adapter not in STAND_INS:
        if not own["type"]:
            raise Unknown(
                f"what a profile of the adapter {adapter!r} looks like is not known: put a profiles.yml into the project"
            )
        return {"profiles_dir": request["project_dir"]}
    target = request.get("target") or own["target"] or "default"
    output = {**stand_in(adapter), **(request.get("profile_args") or {}), "type": adapter}
    with open(os.path.join(request["scratch"], "profiles.yml"), "w", encoding="utf-8") as file:
        file.write(profiles_text(own["name"], target, output))
    return {"profiles_dir": request["scratch"], "profile": own["name"], "target": target}


def _own_profile(project_dir: str) -> dict:
    """The name the project gives its profile, and what a profiles.yml beside it says of the adapter."""
    import yaml

    with open(os.path.join(project_dir, "dbt_project.yml"), encoding="utf-8") as file:
        name = (yaml.safe_load(file) or {}).get("profile") or "svc"
    found = {"name": name, "target": None, "type": None}
    path = os.path.join(project_dir, "profiles.yml")
    if not os.path.isfile(path):
        return found
    with open(path, encoding="utf-8") as file:
        profile = (yaml.safe_load(file) or {}).get(name) or {}
    outputs = profile.get("outputs") or {}
    target = profile.get("target") if profile.get("target") in outputs else next(iter(outputs), None)
    return {**found, "target": target, "type": (outputs.get(target) or {}).get("type")}


def _only_adapter() -> str:
    names = installed_adapters()
    if len(names) == 1:
        return names[0]
    if not names:
        raise Unknown("dbt is installed without an adapter: add one to the dependencies, such as dbt-postgres")
    raise Unknown(
        f"several adapters of dbt are installed ({', '.join(names)}): name the one to use, adapter={names[0]!r}"
    )


def installed_adapters() -> list[str]:
    """Redshift's brings that of Postgres along, which is then not what is meant."""
    import importlib.util
    import pkgutil

    import dbt.adapters

    names = [module.name for module in pkgutil.iter_modules(dbt.adapters.__path__) if module.ispkg]
    found = sorted(name for name in names if importlib.util.find_spec(f"dbt.include.{name}") is not None)
    return [name for name in found if name != "postgres"] if "redshift" in found else found


def main(request_path: str, answer_path: str) -> None:
    with open(request_path, encoding="utf-8") as file:
        request = json.load(file)
    try:
        answer = read_graph(request)
    except ImportError as error:
        answer = {"ok": False, "missing": True, "message": str(error)}
    except Unknown as error:
        answer = {"ok": False, "message": str(error)}
    except Exception as error:  # dbt raises whatever its parts raise; the author reads it beside their line
        answer = {"ok": False, "message": f"{type(error).__name__}: {error}"}
    unfinished = answer_path + ".part"
    with open(unfinished, "w", encoding="utf-8") as file:
        json.dump(answer, file)
    os.replace(unfinished, answer_path)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
