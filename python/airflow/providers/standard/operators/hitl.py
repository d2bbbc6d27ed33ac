"""Human-in-the-loop operators: the control plane asks and waits, and no process runs meanwhile."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

from svc_runtime.exceptions import DownstreamTasksSkipped, HITLRejectException, HITLTriggerEventError
from svc_runtime.record.base_args import as_list
from svc_runtime.record.operator import BaseOperator
from svc_runtime.record.params import ParamsDict

from .branch import BranchMixIn


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
        self.validate_options()
        self.validate_params()
        self.validate_defaults()

    def validate_options(self) -> None:
        if not self.options:
            raise ValueError('"options" cannot be empty.')

    def validate_params(self) -> None:
        if "_options" in self.form:
            raise ValueError('"_options" is not allowed in params')

    def validate_defaults(self) -> None:
        if self.defaults and not set(self.defaults) <= set(self.options):
            raise ValueError(f'defaults "{self.defaults}" should be a subset of options "{self.options}"')
        if self.defaults and len(self.defaults) > 1 and not self.multiple:
            raise ValueError('More than one defaults given when "multiple" is set to False.')

    @property
    def serialized_params(self) -> dict:
        """The form's fields with their schemas and defaults."""
        return {name: param.dump() for name, param in self.form.param_items()}

    def validate_chosen_options(self, chosen_options: list) -> None:
        unknown = set(chosen_options) - set(self.options)
        if unknown:
            raise HITLTriggerEventError(f"the answer {sorted(unknown)} is none of the options {self.options}")

    def execute(self, context):
        from svc_runtime.run.hitl import answer_to

        def notify() -> None:
            for notifier in self.notifiers:
                notifier(context)

        return self.execute_complete(context, answer_to(self, context["ti"], notify))

    def execute_complete(self, context, event: dict):
        """What the task returns: the options chosen and the form as it was filled in."""
        self.validate_chosen_options(event["chosen_options"])
        who = event["responded_by_user"]
        self.log.info("%s chose %s", who["name"] if who else "Nobody; by default,", ", ".join(event["chosen_options"]))
        return {
            "chosen_options": event["chosen_options"],
            "params_input": event["params_input"],
            "responded_at": event["responded_at"],
            "responded_by_user": who,
        }

    def generate_link_to_ui(self, *, task_instance, base_url=None, options=None, params_input=None) -> str:
        """The page that asks, for a notification. `options` and `params_input` fill its form in."""
        from svc_runtime.run.conf import conf

        chosen = as_list(options)
        fields = dict(params_input or {})
        for what, given, known in (("options", chosen, self.options), ("params", fields, self.params)):
            unknown = set(given) - set(known)
            if unknown:
                raise ValueError(f"{what} {unknown} are not valid {what}")
        base_url = base_url or conf.get("api", "base_url", fallback=None)
        if not base_url:
            raise ValueError("Not able to retrieve base_url: set server.base_url, or pass base_url")
        query = {**({"_options": chosen} if chosen else {}), **fields, "map_index": task_instance.map_index}
        ti = task_instance
        path = f"/dags/{ti.dag_id}/runs/{ti.run_id}/tasks/{ti.task_id}/required_actions"
        return urlsplit(base_url)._replace(path=path, query=urlencode(query), fragment="").geturl()

    @staticmethod
    def generate_link_to_ui_from_context(*, context, base_url=None, options=None, params_input=None) -> str:
        task = context["task"]
        if not isinstance(task, HITLOperator):
            raise ValueError("This method only supports HITLOperator")
        return task.generate_link_to_ui(
            task_instance=context["task_instance"], base_url=base_url, options=options, params_input=params_input
        )

    def _push(self, context, value: dict) -> None:
        """Before an end by an exception, which returns nothing."""
        if self.do_xcom_push:
            context["ti"].xcom_push(key="return_value", value=value)


class ApprovalOperator(HITLOperator):
    inherits_from_skipmixin = True
    APPROVE = "Approve"
    REJECT = "Reject"
    FIXED_ARGS = ("options", "multiple")

    def __init__(
        self, *, ignore_downstream_trigger_rules: bool = False, fail_on_reject: bool = False, **kwargs
    ) -> None:
        for name in self.FIXED_ARGS:
            if name in kwargs:
                raise ValueError(f"Passing {name} to ApprovalOperator is not allowed.")
        super().__init__(options=[self.APPROVE, self.REJECT], **kwargs)
        self.ignore_downstream_trigger_rules = ignore_downstream_trigger_rules
        self.fail_on_reject = fail_on_reject

    def execute_complete(self, context, event: dict):
        value = super().execute_complete(context, event)
        if self.APPROVE in value["chosen_options"]:
            return value
        if self.fail_on_reject:
            raise HITLRejectException("Rejected")
        # Either everything below is skipped, or only the next tasks and trigger rules decide further on.
        below = self.get_flat_relative_ids() if self.ignore_downstream_trigger_rules else self.downstream_task_ids
        skipped = sorted(task_id for task_id in below if not self.dag.get_task(task_id).is_teardown)
        if not skipped:
            return value
        self._push(context, value)
        raise DownstreamTasksSkipped(tasks=skipped)


class HITLBranchOperator(HITLOperator, BranchMixIn):
    """The options are tasks right after this one, or stand for such by `options_mapping`."""

    inherits_from_skipmixin = True

    def __init__(self, *, options_mapping: dict | None = None, **kwargs) -> None:
        super().__init__(**kwargs)
        self.options_mapping = options_mapping or {}
        self.validate_options_mapping()

    def validate_options_mapping(self) -> None:
        unknown = sorted(set(self.options_mapping) - set(self.options))
        if unknown:
            raise ValueError(f"options_mapping contains keys that are not in options: {unknown}")

    def execute_complete(self, context, event: dict):
        value = super().execute_complete(context, event)
        try:
            self.do_branch(context, [self.options_mapping.get(option, option) for option in value["chosen_options"]])
        except DownstreamTasksSkipped:
            self._push(context, value)
            raise
        return value


class HITLEntryOperator(HITLOperator):
    """A form; without options of its own there is nothing to choose but OK."""

    OK = "OK"

    def __init__(self, **kwargs) -> None:
        if "options" not in kwargs:
            kwargs["options"] = [self.OK]
            kwargs.setdefault("defaults", [self.OK])
        super().__init__(**kwargs)
