"""ResumableJobMixin: an operator that continues with the external job of an earlier try instead of starting another."""

from __future__ import annotations

from abc import ABC, abstractmethod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ResumableJobMixin(ABC):
    """The id of the job is kept in the task's state store before the first poll. The next try asks for its status:

    active ─▶ poll ─▶ result      succeeded ─▶ result      anything else ─▶ submit again
    """

    external_id_key = "remote_job_id"

    def __init__(self, *, durable: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.durable = durable

    def execute_resumable(self, context):
        store = context.get("task_state_store") if self.durable else None
        known = store.get(self.external_id_key) if store is not None else None
        if known is not None:
            status = self.get_job_status(known, context)
            if self.is_job_active(status):
                self._say(f"Continuing with the job {known} of an earlier try, which is {status}")
                self.poll_until_complete(known, context)
                return self.get_job_result(known, context)
            if self.is_job_succeeded(status):
                self._say(f"The job {known} of an earlier try has succeeded")
                return self.get_job_result(known, context)
            self._say(f"The job {known} of an earlier try is {status}: submitting another one")
        external_id = self.submit_job(context)
        if store is not None and external_id is not None:
            store.set(self.external_id_key, external_id)
        self.poll_until_complete(external_id, context)
        return self.get_job_result(external_id, context)

    def _say(self, text: str) -> None:
        from .logs import say

        say(text)

    @abstractmethod
    def submit_job(self, context):
        """Starts the job and returns its id, or None if it has none."""

    @abstractmethod
    def get_job_status(self, external_id, context) -> str:
        """The status in the words of the external system."""

    @abstractmethod
    def is_job_active(self, status: str) -> bool:
        """True while the job runs or waits."""

    @abstractmethod
    def is_job_succeeded(self, status: str) -> bool:
        """True when the job has succeeded."""

    @abstractmethod
    def poll_until_complete(self, external_id, context) -> None:
        """Waits for the end of the job. Raises when the job fails."""

    @abstractmethod
    def get_job_result(self, external_id, context):
        """What the task returns."""
