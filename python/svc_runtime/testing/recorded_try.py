"""A try of a control plane that runs again: `svc replay`, and the tests that `svc replay --to-test` writes."""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_RUN_FIELDS = ("run_id", "run_type", "logical_date", "run_after")
_INTERVAL = ("data_interval_start", "data_interval_end")
# What else a task can read of its run. The run was running, whatever it is by now.
_MORE_RUN_FIELDS = ("start_date", "queued_at", "triggering_user_name", "partition_key", "partition_date", "note")


@dataclass
class RecordedTry:
    run: dict[str, Any]
    try_number: int = 1
    max_tries: int = 0
    # Dates of the last successful run before this one, as a job has them.
    previous: dict[str, Any] = field(default_factory=dict)
    # With the conf of the run. None: those of the DAG file count.
    params: dict[str, Any] | None = None
    # Limits of the version, which svc.yaml may have changed. None: those of the DAG file count.
    limits: dict[str, Any] | None = None
    # The events that started the run, as a control plane answers.
    asset_events: list[dict] = field(default_factory=list)
    # `sensor_timeout` or `execution_timeout`: the try ended because its time was over.
    timed_out: str | None = None

    @staticmethod
    def of(given: Mapping[str, Any]) -> RecordedTry:
        unknown = set(given) - set(RecordedTry.__dataclass_fields__)
        if unknown or "run" not in given:
            raise ValueError(
                f"recorded has {', '.join(sorted(given)) or 'nothing'}; it has to be what svc replay --to-test writes"
            )
        return RecordedTry(**given)

    def run_and_interval(self, conf) -> tuple[dict, dict]:
        run = {name: self.run.get(name) for name in _RUN_FIELDS}
        return {**run, "conf": dict(conf or {})}, {name: self.run.get(name) for name in _INTERVAL}

    def complete(self, job: dict) -> None:
        """Gives the job of the task what it had on the control plane."""
        job["try_number"], job["max_tries"] = self.try_number, self.max_tries
        job["retry_on_failure"] = self.try_number <= self.max_tries
        job["run"] |= {name: self.run[name] for name in _MORE_RUN_FIELDS if name in self.run}
        job["previous"] = self.previous
        if self.params is not None:
            job["params"] = self.params
        if self.limits is not None:
            job["spec"] = self.limits
