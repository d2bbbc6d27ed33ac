"""The standard operators and sensors, in our own implementation.

It wins over an installed `apache-airflow-providers-standard`, on which many providers depend: that one talks to Airflow's own task
runner and database. Modules that ours does not have come from the package where it is installed.
"""

from __future__ import annotations

import os
import sys

__version__ = "1.21.0"

_installed = (os.path.join(place, "airflow", "providers", "standard") for place in sys.path)
__path__ += [folder for folder in _installed if folder not in __path__ and os.path.isdir(folder)]
