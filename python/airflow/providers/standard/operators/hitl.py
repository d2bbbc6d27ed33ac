"""Human-in-the-loop operators: recorded; the control plane asks and waits."""

from __future__ import annotations

from svc_runtime.exceptions import RecordingError
from svc_runtime.record.base_args import as_list
from svc_runtime.record.operator import BaseOperator
from svc_runtime.record.params import ParamsDict


class HITLOperator(BaseOperator):
    template_fields = ("subject", "body")

    def __init__(
        self,
        *,
        subject: str,
        options: list,
        body: str | None = None,
        defaults=None,
        multiple: bool = False,
        params=None,
        notifiers=None,
        assigned_users=None,
        response_timeout=None,
        **kwargs,
    ) -> None:
        # The form's fields are the task's params, so that the answer is validated like any other.
        super().__init__(params=params, **kwargs)
        self.subject = subject
        self.body = body
        self.options = list(options)
        self.defaults = as_list(defaults) or None
        self.multiple = multiple
        self.form = ParamsDict(params)
        self.notifiers = as_list(notifiers)
        self.assigned_users = as_list(assigned_users)
        self.response_timeout = response_timeout
        if not self.options:
            raise ValueError('"options" cannot be empty.')
        if self.defaults and not set(self.defaults) <= set(self.options):
            raise ValueError(f'defaults "{self.defaults}" should be a subset of options "{self.options}"')

    def execute(self, context):
        raise RecordingError("human-in-the-loop tasks need a control plane that can ask", "Approve the task in the UI")


class ApprovalOperator(HITLOperator):
    APPROVE = "Approve"
    REJECT = "Reject"

    def __init__(
        self, *, ignore_downstream_trigger_rules: bool = False, fail_on_reject: bool = False, **kwargs
    ) -> None:
        for name in ("options", "multiple"):
            if name in kwargs:
                raise ValueError(f"Passing {name} to ApprovalOperator is not allowed.")
        super().__init__(options=[self.APPROVE, self.REJECT], **kwargs)
        self.ignore_downstream_trigger_rules = ignore_downstream_trigger_rules
        self.fail_on_reject = fail_on_reject


class HITLBranchOperator(HITLOperator):
    inherits_from_skipmixin = True

    def __init__(self, *, options_mapping: dict | None = None, **kwargs) -> None:
        super().__init__(**kwargs)
        self.options_mapping = options_mapping or {}


class HITLEntryOperator(HITLOperator):
    def __init__(self, **kwargs) -> None:
        kwargs.setdefault("options", ["OK"])
        super().__init__(**kwargs)
