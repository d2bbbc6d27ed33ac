"""Models as assets: `dbt://<project>/<model>`, whatever database they are in."""

from __future__ import annotations

from ..record.assets import Asset
from .graph import Node


def asset_of(node: Node) -> Asset:
    return dbt_asset(node.package, node.name)


def dbt_asset(project: str, model: str) -> Asset:
    """What other DAGs are scheduled on: `schedule=[dbt_asset("shop", "revenue")]`."""
    return Asset(name=f"dbt://{project}/{model}", uri=f"dbt://{project}/{model}")
