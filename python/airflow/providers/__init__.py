"""Namespace shared with provider packages installed in the environment.

Only this folder of an installed Airflow is looked into: the rest of `airflow.` is ours, whether Airflow itself was installed with
them or not. `standard` is ours too: see its own file. What is not installed is recorded while a file is compiled
(svc_runtime/record/provider_stubs.py).
"""

from __future__ import annotations

import os
import sys

_installed = (os.path.join(place, "airflow", "providers") for place in sys.path)
__path__ += [folder for folder in _installed if folder not in __path__ and os.path.isdir(folder)]
