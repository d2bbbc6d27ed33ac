"""What DAG files may use of svc beyond what Airflow has: `from svc import dbt_group, step`."""

from __future__ import annotations

import airflow  # noqa: F401  installs the import paths
from svc_runtime import one_airflow
from svc_runtime.dbt.assets import dbt_asset
from svc_runtime.dbt.group import dbt_group
from svc_runtime.dbt.operator import DbtOperator
from svc_runtime.steps import step

# An Airflow that was installed later has replaced our own `airflow`, which does not say so then.
one_airflow.check()

__all__ = ["DbtOperator", "dbt_asset", "dbt_group", "step"]
