"""Variables and connections for triggers: each gets what its own DAG may have, as its task would."""

from __future__ import annotations

from ..run.secrets_source import AgentSecrets
from .connection import current_order


class TriggerSecrets(AgentSecrets):
    def __init__(self, connection, job: dict) -> None:
        self._is_enforced = job.get("scoping") == "enforce"
        super().__init__(connection, {})

    def _may_ask(self, kind: str, name: str) -> bool:
        if not self._is_enforced:
            return True
        declared = (current_order.get() or {}).get("declared") or {}
        return name in declared.get(f"{kind}s", ())
