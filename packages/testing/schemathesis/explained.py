"""What Schemathesis finds and is meant to be so, each with the reason. Everything else is a finding and fails the test."""

import re
from dataclasses import dataclass

VALID_REFUSED = "positive_data_acceptance"
INVALID_ACCEPTED = "negative_data_rejection"
NO_HEADER = "missing_required_header"
WRONG_METHOD = "unsupported_method"


@dataclass(frozen=True)
class Explanation:
    reason: str
    checks: tuple[str, ...]
    # Ids of operations; empty for all.
    operations: tuple[str, ...] = ()
    status: int = 400
    # What the `detail` of the answer has.
    detail: str = ""
    # What Schemathesis says of the failure.
    message: str = ""


EXPLANATIONS = (
    Explanation(
        "Which target a rule has depends on its channel, quiet hours have two ends, and time zones are those of a database.",
        (VALID_REFUSED,),
        ("post_alert_rule",),
        detail=r"target: name|quiet_from, quiet_until: give both|quiet_timezone: there is no time zone",
    ),
    Explanation(
        "Airflow has links to logs in other systems. Here, logs are served by the API, and the answer names their path.",
        (VALID_REFUSED,),
        ("get_external_log_url",),
        detail=r"task logs are kept here only",
    ),
    Explanation(
        "Which sources a bundle may have depends on its kind and on the paths that the operator allows.",
        (VALID_REFUSED,),
        ("post_bundle", "patch_bundle"),
        detail="url: ",
    ),
    Explanation(
        "A request line longer than 16 KiB is refused before anything of it is read: no operation, no header, no method.",
        (VALID_REFUSED, INVALID_ACCEPTED, NO_HEADER, WRONG_METHOD),
        status=431,
    ),
    Explanation(
        "Conditional requests: whether the condition holds is a matter of the file, not of the request's form.",
        (VALID_REFUSED,),
        ("put_workspace_file", "delete_workspace_file"),
        status=412,
    ),
    Explanation(
        "A save must say what it replaces: one of two headers, which OpenAPI has no word for.",
        (VALID_REFUSED,),
        ("put_workspace_file",),
        status=428,
    ),
    Explanation(
        "Postgres stores neither; every text of every body would need the same pattern.",
        (VALID_REFUSED,),
        detail=r"must not contain (the character U\+0000|U\+0000 or half of a surrogate pair)",
    ),
    Explanation(
        "Keys that would poison a prototype are refused in every body.",
        (VALID_REFUSED,),
        detail=r"must not have the key \"__proto__\"",
    ),
    Explanation(
        "RFC 3339 has offsets up to 23:59 and a leap second; Postgres knows neither.",
        (VALID_REFUSED,),
        detail=r"must be a valid date-time",
    ),
    Explanation(
        "Only where people sign in at an identity provider may a user have no password; the document is the same everywhere.",
        (VALID_REFUSED,),
        ("post_user",),
        detail=r"single sign-on is off",
    ),
    Explanation(
        "What may be the path of a file depends on its parts: their lengths in bytes, dots, what is closed to the editor.",
        (VALID_REFUSED,),
        (
            "get_workspace_file",
            "put_workspace_file",
            "delete_workspace_file",
            "rename_workspace_file",
            "compile_workspace_file",
            "post_workspace_test",
        ),
    ),
    Explanation(
        "The pool that tasks use by default stays; Airflow refuses it with 400, too.",
        (VALID_REFUSED,),
        ("delete_pool", "bulk_pools"),
        detail=r"the pool \"default_pool\" cannot be deleted",
    ),
    Explanation(
        "Tasks rely on the default pool: its name and description stay.",
        (VALID_REFUSED,),
        ("patch_pool", "bulk_pools"),
        detail=r"only slots and include_deferred of the default pool can change",
    ),
    Explanation(
        "The fields that a mask may name are those of the entities beside it.",
        (VALID_REFUSED,),
        ("bulk_connections", "bulk_pools", "bulk_variables", "bulk_task_instances", "bulk_dag_runs"),
        detail=r"update_mask: there is no field",
    ),
    Explanation(
        "A body beyond the limit is refused before it is read, whatever else is wrong with it.",
        (INVALID_ACCEPTED,),
        status=413,
    ),
    Explanation(
        "After the login nobody may be sent to another site: what is a path here is decided by parsing it as a URL.",
        (VALID_REFUSED,),
        ("login", "oidc_login"),
        detail=r"next must be a path on this site",
    ),
    Explanation(
        "Only as NDJSON is there an answer for try 0: why a task never ran.",
        (VALID_REFUSED,),
        ("get_log",),
        detail=r"try_number must be >= 1, got 0",
    ),
    Explanation(
        "The id in the body, if there is one, is that of the path: nothing is renamed.",
        (VALID_REFUSED,),
        detail=r"the body says .* cannot be renamed",
    ),
    Explanation(
        "Two fields that only make sense together, and in that order.",
        (VALID_REFUSED,),
        ("trigger_dag_run", "materialize_asset"),
        detail=r"data_interval_start (and data_interval_end belong together|must not be later)",
    ),
    Explanation(
        "A clear is of a run or of a range of dates; past and future are those of a run.",
        (VALID_REFUSED,),
        ("post_clear_task_instances",),
        detail=r"dag_run_id(: send either the run or a range| is required with include_past and include_future)",
    ),
    Explanation(
        "A cursor is taken from an answer; its form is nobody's business.",
        (VALID_REFUSED,),
        detail=r"cursor is invalid",
    ),
    Explanation(
        "Three ways to read a part of a log, one of them at a time.",
        (VALID_REFUSED,),
        ("get_log",),
        detail=r"search, tail_lines and token exclude each other|follow: a search looks at what is there",
    ),
    Explanation(
        "One of two patterns, so that a forgotten one does not pause everything; OpenAPI has no word for that.",
        (VALID_REFUSED,),
        ("patch_dags",),
        detail=r"dag_id_pattern is required here",
    ),
    Explanation(
        "Ids that runs of other types get, and ids that no path could name.",
        (VALID_REFUSED,),
        ("trigger_dag_run", "materialize_asset"),
        detail=r"dag_run_id must (not begin with|be 1 to 250)",
    ),
    Explanation(
        "What can be run again, and how many runs a range has, depends on the DAG.",
        (VALID_REFUSED,),
        ("create_backfill", "create_backfill_dry_run"),
        detail=r"the range has more than \d+ runs|from_date must not be later|depends_on_past=True",
    ),
    Explanation(
        "Two ways to choose tasks, one of them at a time.",
        (VALID_REFUSED,),
        ("clear_dag_run", "clear_dag_runs"),
        detail=r"only_failed and only_new exclude each other",
    ),
    Explanation(
        "A clear of several runs names them or their partition, and `~` in the path leaves the DAG to each run.",
        (VALID_REFUSED,),
        ("clear_dag_runs", "bulk_dag_runs"),
        detail=r"dag_runs: name the runs to clear|partition_key: (send either|name the DAG)|dag_id: with ~ in the path",
    ),
    Explanation(
        "Airflow limits events to teams. There are none here, and an event for fewer DAGs must not go to all of them.",
        (VALID_REFUSED,),
        ("create_asset_event",),
        detail=r"access_control: there are no teams",
    ),
    Explanation(
        "Which answers a question has depends on its task.",
        (VALID_REFUSED,),
        detail=r"chosen_options: .* is none of the options",
    ),
    Explanation(
        "Which tasks there are depends on the DAG.",
        (VALID_REFUSED,),
        ("post_clear_task_instances",),
        detail=r"task_ids: unknown task",
    ),
    Explanation(
        "A delete looks at the name alone, and no field is looked at that an update mask does not name: what was read can be "
        "sent back as it is.",
        (INVALID_ACCEPTED,),
        status=200,
        message=r"team_name: ",
    ),
    Explanation(
        "The compiled spec has a schema of its own (packages/spec), checked after the envelope.",
        (VALID_REFUSED,),
        ("post_dag_version",),
    ),
)


def is_explained(check: str, operation: str, status: int, detail: str, message: str) -> bool:
    return any(
        check in each.checks
        and status == each.status
        and (not each.operations or operation in each.operations)
        and re.search(each.detail, detail) is not None
        and re.search(each.message, message) is not None
        for each in EXPLANATIONS
    )
