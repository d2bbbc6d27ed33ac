"""What dbt says of the nodes it ran: a summary, the words for a failure, and what a retry still has to do. Pure."""

from __future__ import annotations

from ..exceptions import AirflowException

# As in run_results.json.
FAILED = frozenset({"error", "fail", "runtime error", "partial success"})
SKIPPED = frozenset({"skipped"})
RESULTS_KEY = "dbt_run_results"
MANIFEST_KEY = "dbt_manifest"
_NAMED = 8
_MESSAGE = 160


class DbtFailed(AirflowException):
    """Names what failed, so that nobody has to read a log to know."""

    svc_cause = "dbt_failed"


def merged(previous: list[dict], now: list[dict]) -> list[dict]:
    """Of every node its last result, in the order they ended first."""
    by_id = {result["unique_id"]: result for result in previous}
    by_id.update({result["unique_id"]: result for result in now})
    return list(by_id.values())


def unfinished(previous: list[dict] | None, wanted: list[str]) -> list[str] | None:
    """As `dbt retry`: what failed, what was skipped because of it, and what was never reached. None: everything, because
    nothing is known of an earlier try, or because that one had succeeded."""
    if not previous:
        return None
    status = {result["unique_id"]: result["status"] for result in previous}
    left = [name for name in wanted if status.get(name, "skipped") in FAILED | SKIPPED]
    return left if left and len(left) < len(wanted) else None


def failures(results: list[dict]) -> list[dict]:
    return [result for result in results if result["status"] in FAILED]


def failure_message(results: list[dict], paths: dict[str, str]) -> str:
    """`dbt: model stg_orders failed (1 of 14; 3 skipped). stg_orders (models/stg_orders.sql): …`"""
    failed = failures(results)
    skipped = sum(result["status"] in SKIPPED for result in results)
    names = [f"{kind_of(result['unique_id'])} {name_of(result['unique_id'])}" for result in failed]
    shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    counts = f"{len(failed)} of {len(results)}" + (f"; {skipped} skipped" if skipped else "")
    said = []
    for result in failed[:_NAMED]:
        place = paths.get(result["unique_id"])
        text = " ".join((result.get("message") or result["status"]).split())
        said.append(f"{name_of(result['unique_id'])}{f' ({place})' if place else ''}: {text[:_MESSAGE]}")
    return f"{shown} failed ({counts}). {'; '.join(said)}"


def kind_of(unique_id: str) -> str:
    return unique_id.split(".", 1)[0]


def name_of(unique_id: str) -> str:
    """`model.shop.stg_orders` → `stg_orders`; `model.shop.orders.v2` → `orders.v2`; tests end with a hash."""
    kind, _, rest = unique_id.partition(".")
    name = rest.partition(".")[2] or rest
    return name.rpartition(".")[0] or name if kind == "test" else name


def summary(command: str, results: list[dict]) -> dict:
    counts: dict[str, int] = {}
    for result in results:
        counts[result["status"]] = counts.get(result["status"], 0) + 1
    return {
        "command": command,
        "nodes": len(results),
        "statuses": dict(sorted(counts.items())),
        "failed": [name_of(result["unique_id"]) for result in failures(results)],
    }


def compact_results(results: list[dict]) -> list[dict]:
    """When the whole of run_results.json is larger than a value may be."""
    names = ("unique_id", "status", "execution_time", "message", "failures")
    return [{name: result.get(name) for name in names} for result in results]
