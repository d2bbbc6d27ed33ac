"""LatestOnlyOperator: skip everything below unless this is the newest scheduled run."""

from __future__ import annotations

import datetime

from .branch import BaseBranchOperator


class LatestOnlyOperator(BaseBranchOperator):
    ui_color = "#e9ffdb"

    def choose_branch(self, context):
        run = context["dag_run"]
        everything = list(self.downstream_task_ids)
        # A run somebody asked for by hand is always allowed.
        if run.run_type == "manual":
            return everything
        upper = context["ti"].svc_next_run_after()
        if upper is None or datetime.datetime.now(datetime.timezone.utc) <= upper:
            return everything
        return []
