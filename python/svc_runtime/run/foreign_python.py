"""Running a function's source in another interpreter: arguments in by pickle, result out by pickle.

The function travels as source text, so it must not use names from outside its body; that is the documented
contract of the virtualenv and external-python operators.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import pickle
import shutil
import sys
import tempfile
import textwrap

from ..exceptions import AirflowException, AirflowSkipException
from .callables import context_arguments

_SCRIPT = """\
import pickle, sys
with open(sys.argv[1], "rb") as file:
    arguments = pickle.load(file)
{source}
result = {name}(*arguments["args"], **arguments["kwargs"])
with open(sys.argv[2], "wb") as file:
    pickle.dump(result, file)
"""


def _source(function) -> str:
    lines = textwrap.dedent(inspect.getsource(function)).splitlines()
    # Decorators name things the other interpreter does not have.
    start = next(i for i, line in enumerate(lines) if line.lstrip().startswith(("def ", "async def ")))
    return textwrap.dedent("\n".join(lines[start:]))


def _picklable(values: dict) -> dict:
    kept = {}
    for name, value in values.items():
        try:
            pickle.dumps(value)
        except Exception:  # context objects that cannot travel are left out, as documented
            continue
        kept[name] = value
    return kept


def run_in_interpreter(operator, context):
    with tempfile.TemporaryDirectory(prefix="svc-python-") as folder:
        python = operator.interpreter(context, folder)
        script, inputs, output = (os.path.join(folder, name) for name in ("script.py", "in.pickle", "out.pickle"))
        with open(script, "w", encoding="utf-8") as file:
            file.write(_SCRIPT.format(source=_source(operator.python_callable), name=operator.python_callable.__name__))
        wanted = context_arguments(operator.python_callable, operator.op_args, {}, context)
        with open(inputs, "wb") as file:
            pickle.dump({"args": tuple(operator.op_args), "kwargs": {**_picklable(wanted), **operator.op_kwargs}}, file)
        env = {**(os.environ if operator.inherit_env else {}), **(operator.env_vars or {})}
        from .commands import run_command

        code, last = run_command(operator, [python, script, inputs, output], env=env, cwd=None)
        if code in operator.skip_on_exit_code:
            raise AirflowSkipException(f"Process exited with code {code}. Skipping.")
        if code != 0:
            raise AirflowException(f"Process exited with code {code}: {last}")
        with open(output, "rb") as file:
            return pickle.load(file)


def prepare_virtualenv(operator, folder: str) -> str:
    """The interpreter of an environment with the operator's requirements; kept for the next task if it has a cache."""
    requirements = [line for item in operator.requirements for line in str(item).splitlines() if line.strip()]
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
