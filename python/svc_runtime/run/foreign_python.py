"""Running a function's source in another interpreter: arguments in by pickle, result out by pickle.

The function travels as source text, so it must not use names from outside its body; that is the documented
contract of the virtualenv and external-python operators.
"""

from __future__ import annotations

import inspect
import os
import pickle
import subprocess
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
    target = os.path.join(operator.venv_cache_path or folder, "venv")
    python = os.path.join(target, "bin", "python")
    if os.path.exists(python):
        return python
    base = f"python{operator.python_version}" if operator.python_version else sys.executable
    command = [base, "-m", "venv", target]
    if operator.system_site_packages:
        command.insert(3, "--system-site-packages")
    subprocess.run(command, check=True)
    requirements = [line for item in operator.requirements for line in str(item).splitlines() if line.strip()]
    if requirements:
        install = [python, "-m", "pip", "install", "--quiet", *operator.pip_install_options]
        for index, url in enumerate(operator.index_urls or []):
            install += ["--index-url" if index == 0 else "--extra-index-url", url]
        subprocess.run([*install, *requirements], check=True)
    return python
