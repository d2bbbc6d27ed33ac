"""Namespace shared with provider packages installed in the task's environment.

Compiling never imports them (svc_runtime/record/provider_stubs.py stands in); running a task does. Only this folder of an
installed Airflow is looked into: the rest of `airflow.` is ours, whether Airflow itself was installed with them or not.
"""

from __future__ import annotations

import os
import sys

_installed = (os.path.join(place, "airflow", "providers") for place in sys.path)
__path__ += [folder for folder in _installed if folder not in __path__ and os.path.isdir(folder)]
