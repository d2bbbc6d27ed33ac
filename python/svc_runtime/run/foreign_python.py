"""Running a function's source in another interpreter: arguments in and result out by the operator's serializer.

The function travels as source text, so it must not use names from outside its body; that is the documented
contract of the virtualenv and external-python operators. One name it may use: `virtualenv_string_args`.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import json
import os
import re
import shutil
import sys
import tempfile
import textwrap

from ..exceptions import AirflowException, AirflowSkipException
from .callables import context_arguments

_SCRIPT = """\
import sys
import types
try:
    import {serializer} as _serializer
except ImportError:
    sys.exit("serializer={serializer!r} needs the package {serializer} in " + sys.executable + ", and it is not installed there")
with open(sys.argv[3], encoding="utf-8") as file:
    virtualenv_string_args = file.read().splitlines()
{source}
if {module!r}.startswith("svc_dag_"):
    # The DAG file is not here; what travels may name the module all the same.
    sys.modules[{module!r}] = types.ModuleType({module!r})
    setattr(sys.modules[{module!r}], {name!r}, {name})
with open(sys.argv[1], "rb") as file:
    arguments = _serializer.load(file)
result = {name}(*arguments["args"], **arguments["kwargs"])
with open(sys.argv[2], "wb") as file:
    _serializer.dump(result, file, **{options!r})
"""
# dill would name the module of a function for its globals; this way those that it uses travel with it.
_OPTIONS = {"dill": {"recurse": True}}


def _source(function) -> str:
    lines = textwrap.dedent(inspect.getsource(function)).splitlines()
    # Decorators name things the other interpreter does not have.
    start = next(i for i, line in enumerate(lines) if line.lstrip().startswith(("def ", "async def ")))
    return textwrap.dedent("\n".join(lines[start:]))


def _serializer_of(operator):
    """The module: all three have dump and load."""
    name = operator.serializer
    try:
        return importlib.import_module(name)
    except ImportError:
        raise AirflowException(
            f"serializer={name!r} needs the package {name}, which is not installed where this task runs: "
            f"add {name} to the dependencies of the DAG, or use serializer='pickle'"
        ) from None


def _those_that_travel(values: dict, serializer) -> dict:
    kept = {}
    for name, value in values.items():
        try:
            serializer.dumps(value)
        except Exception:  # context objects that cannot travel are left out, as documented
            continue
        kept[name] = value
    return kept


def run_in_interpreter(operator, context):
    serializer = _serializer_of(operator)
    options = _OPTIONS.get(operator.serializer, {})
    function = operator.python_callable
    with tempfile.TemporaryDirectory(prefix="svc-python-") as folder:
        python = operator.interpreter(context, folder)
        names = ("script.py", "in.pickle", "out.pickle", "string_args.txt")
        script, inputs, output, texts = (os.path.join(folder, name) for name in names)
        with open(script, "w", encoding="utf-8") as file:
            file.write(
                _SCRIPT.format(
                    source=_source(function),
                    name=function.__name__,
                    module=function.__module__,
                    serializer=operator.serializer,
                    options=options,
                )
            )
        with open(texts, "w", encoding="utf-8") as file:
            file.write("\n".join(map(str, operator.string_args)))
        wanted = context_arguments(function, operator.op_args, operator.op_kwargs, context)
        given = {name: wanted.pop(name) for name in operator.op_kwargs if name in wanted}
        kwargs = {**_those_that_travel(wanted, serializer), **given}
        with open(inputs, "wb") as file:
            serializer.dump({"args": tuple(operator.op_args), "kwargs": kwargs}, file, **options)
        env = {**(os.environ if operator.inherit_env else {}), **(operator.env_vars or {})}
        from .commands import run_command

        code, last = run_command(operator, [python, script, inputs, output, texts], env=env, cwd=None)
        if code in operator.skip_on_exit_code:
            raise AirflowSkipException(f"Process exited with code {code}. Skipping.")
        if code != 0:
            raise AirflowException(f"Process exited with code {code}: {last}")
        with open(output, "rb") as file:
            return serializer.load(file)


def prepare_virtualenv(operator, folder: str) -> str:
    """The interpreter of an environment with the operator's requirements; kept for the next task if it has a cache."""
    requirements = [line for item in operator.requirements for line in str(item).splitlines() if line.strip()]
    if _must_install_serializer(operator, requirements):
        requirements.append(_as_here(operator))
    cache = operator.venv_cache_path
    if not cache:
        return _build_virtualenv(operator, requirements, os.path.join(folder, "venv"))
    wanted = [
        requirements,
        operator.python_version,
        operator.system_site_packages,
        operator.pip_install_options,
        sys.version,
    ]
    target = os.path.join(cache, f"venv-{hashlib.sha256(json.dumps(wanted).encode()).hexdigest()[:12]}")
    python = os.path.join(target, "bin", "python")
    if not os.path.exists(python):
        # Built beside its place and moved there: whoever finds it finds a whole one, and two builders do no harm.
        draft = f"{target}.{os.getpid()}"
        _build_virtualenv(operator, requirements, draft)
        try:
            os.rename(draft, target)
        except OSError:
            shutil.rmtree(draft, ignore_errors=True)
    return python


def _as_here(operator) -> str:
    """In the version of this side: others of the same package do not always understand each other."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        # An older interpreter may have no such version.
        return (
            operator.serializer if operator.python_version else f"{operator.serializer}=={version(operator.serializer)}"
        )
    except PackageNotFoundError:
        return operator.serializer


def _must_install_serializer(operator, requirements: list) -> bool:
    if operator.serializer == "pickle":
        return False
    named = {re.split(r"[^A-Za-z0-9_.-]", line.strip(), maxsplit=1)[0].lower() for line in requirements}
    sees_ours = operator.system_site_packages and not operator.python_version
    return operator.serializer not in named and not (sees_ours and _is_in_base(operator.serializer))


def _is_in_base(name: str) -> bool:
    """With system_site_packages an environment sees what belongs to the interpreter it is made of; not what another
    environment, that we may be running in, has."""
    return sys.prefix == sys.base_prefix and importlib.util.find_spec(name) is not None


def _build_virtualenv(operator, requirements: list, target: str) -> str:
    from .commands import run_command

    def step(command: list) -> None:
        code, last = run_command(operator, command, env=None, cwd=None)
        if code != 0:
            raise AirflowException(f"the virtual environment cannot be made: {last or f'exit code {code}'}")

    base = f"python{operator.python_version}" if operator.python_version else sys.executable
    options = ["--system-site-packages"] if operator.system_site_packages else []
    # pip takes seconds to unpack, so it comes only where it has something to do.
    step([base, "-m", "venv", *options, *([] if requirements else ["--without-pip"]), target])
    python = os.path.join(target, "bin", "python")
    if requirements:
        install = [python, "-m", "pip", "install", "--quiet", *operator.pip_install_options]
        for index, url in enumerate(operator.svc_index_urls()):
            install += ["--index-url" if index == 0 else "--extra-index-url", url]
        step([*install, *requirements])
    return python
