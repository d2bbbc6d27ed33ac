"""Imports every module of the installed provider packages on our `airflow`, and prints one JSON line for each that fails.

    PYTHONPATH=python <environment>/bin/python packages/testing/providers/import_every_module.py [--compiling] [package …]

A package is named as below `airflow.providers.` (`common.sql`); without one, all that are installed. Modules are imported in
processes of their own, one for each package: what a module leaves behind must not help the next package. The last line has
the counts. With `--compiling`, as a file that is compiled imports them.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from importlib.metadata import distributions

_PREFIX = "apache-airflow-providers-"


def installed() -> dict[str, list[str]]:
    """Modules by package."""
    found: dict[str, list[str]] = {}
    for package in distributions():
        name = (package.metadata["Name"] or "").lower()
        if not name.startswith(_PREFIX):
            continue
        files = [str(file) for file in package.files or () if str(file).endswith(".py")]
        modules = sorted({_module(file) for file in files if file.startswith("airflow/providers/")})
        found[name.removeprefix(_PREFIX).replace("-", ".")] = [
            module for module in modules if not {"example_dags", "tests"} & set(module.split("."))
        ]
    return found


def _module(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def import_all(package: str, modules: list[str], compiling: bool) -> int:
    import airflow  # noqa: F401  installs the import paths
    from svc_runtime import import_paths

    if compiling:
        from svc_runtime.record import provider_stubs

        provider_stubs.install()
    else:
        import_paths.prefer_installed_providers()
    failed = 0
    for module in modules:
        try:
            importlib.import_module(module)
        except BaseException as error:  # whatever a module does is the finding
            failed += 1
            cause = error.__cause__ or error.__context__
            finding = {"package": package, "module": module, "error": f"{type(error).__name__}: {error}"[:300]}
            if cause is not None:
                finding["cause"] = f"{type(cause).__name__}: {cause}"[:300]
            sys.stdout.write(json.dumps(finding) + "\n")
    sys.stdout.write(json.dumps({"package": package, "modules": len(modules), "failed": failed}) + "\n")
    sys.stdout.flush()
    return failed


def main(arguments: list[str]) -> int:
    compiling = "--compiling" in arguments
    wanted = [argument for argument in arguments if not argument.startswith("--")]
    warnings.simplefilter("ignore")
    packages = installed()
    modules = failed = 0
    for package in wanted or sorted(packages):
        pid = os.fork()
        if pid == 0:
            import_all(package, packages[package], compiling)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        modules += len(packages[package])
        failed += status != 0
    sys.stdout.write(json.dumps({"packages": len(wanted or packages), "modules": modules}) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
