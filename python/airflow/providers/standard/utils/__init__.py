from __future__ import annotations

import os

# Modules that ours does not have, from the installed package: see the file above.
from airflow.providers import standard as _standard

__path__ += [
    folder
    for folder in (os.path.join(place, __name__.rpartition(".")[2]) for place in _standard.__path__)
    if folder not in __path__ and os.path.isdir(folder)
]
