"""Connections as profiles, and what is said of results."""

from __future__ import annotations

import json
import unittest

from svc_runtime.dbt import results
from svc_runtime.dbt.profiles import STAND_INS, ProfileError, profile_output, profiles_text, stand_in
from svc_runtime.run.secrets import Connection


def output(kind: str, *, args: dict | None = None, **fields) -> dict:
    return profile_output(Connection(conn_id="c", conn_type=kind, **fields), profile_args=args, project_dir="/project")


class Profiles(unittest.TestCase):
    def test_postgres(self) -> None:
        made = output("postgres", host="db", login="u", password="p", schema="shop", extra={"sslmode": "require"})
        wanted = {"type": "postgres", "host": "db", "port": 5432, "user": "u", "password": "p", "dbname": "shop"}
        self.assertEqual(made, {**wanted, "schema": "public", "sslmode": "require", "threads": 4})

    def test_arguments_win_over_the_connection(self) -> None:
        made = output(
            "redshift", args={"schema": "mine", "threads": 9}, host="r", login="u", password="p", schema="dev"
        )
        self.assertEqual((made["schema"], made["threads"], made["port"]), ("mine", 9, 5439))

    def test_a_duckdb_file_is_beside_the_project_unless_it_says_where(self) -> None:
        self.assertEqual(output("duckdb", host="a.duckdb")["path"], "/project/a.duckdb")
        self.assertEqual(output("duckdb", host="/data/a.duckdb")["path"], "/data/a.duckdb")
        self.assertEqual(output("duckdb", extra={"path": "md:shop"})["path"], "md:shop")

    def test_snowflake_with_a_password_and_with_a_key(self) -> None:
        extra = {"account": "acc", "warehouse": "w", "database": "d", "role": "r"}
        made = output("snowflake", login="u", password="p", schema="s", extra=extra)
        self.assertEqual((made["account"], made["password"], made["database"]), ("acc", "p", "d"))
        keyed = output("snowflake", login="u", password="p", schema="s", extra={**extra, "private_key_content": "KEY"})
        self.assertEqual((keyed["private_key"], keyed["private_key_passphrase"]), ("KEY", "p"))
        self.assertNotIn("password", keyed)

    def test_bigquery_by_key_by_file_and_by_the_machine(self) -> None:
        key = {"project_id": "shop", "private_key": "x"}
        made = output("google_cloud_platform", extra={"keyfile_dict": json.dumps(key), "dataset": "ds"})
        self.assertEqual((made["method"], made["keyfile_json"], made["project"]), ("service-account-json", key, "shop"))
        self.assertEqual(output("google_cloud_platform", extra={"key_path": "/k"})["method"], "service-account")
        self.assertEqual(output("google_cloud_platform", extra={"project": "x"})["method"], "oauth")
        with self.assertRaisesRegex(ProfileError, "keyfile_dict of the connection c is not JSON"):
            output("google_cloud_platform", extra={"keyfile_dict": "{"})

    def test_databricks(self) -> None:
        made = output(
            "databricks",
            host="https://x.example/",
            password="t",
            schema="s",
            extra={"http_path": "/sql", "catalog": "c"},
        )
        wanted = {"host": "x.example", "http_path": "/sql", "token": "t", "schema": "s", "catalog": "c"}
        self.assertEqual(made, {"type": "databricks", "threads": 4, **wanted})

    def test_any_adapter_by_a_connection_of_type_dbt(self) -> None:
        self.assertEqual(
            output("dbt", extra={"type": "trino", "host": "t"}), {"type": "trino", "host": "t", "threads": 4}
        )
        with self.assertRaisesRegex(ProfileError, "has no 'type'"):
            output("dbt", extra={"host": "t"})

    def test_a_type_without_a_profile_is_refused_with_those_that_have_one(self) -> None:
        with self.assertRaisesRegex(ProfileError, "of type http, .*snowflake"):
            output("http", host="x", password="secret")

    def test_a_password_that_looks_like_a_template_stays_what_it_is(self) -> None:
        text = profiles_text("p", "t", {"type": "postgres", "password": "a{{ b }}"})
        self.assertEqual(json.loads(text)["p"]["outputs"]["t"]["password"], '{{ "a{{ b }}" }}')

    def test_stand_ins_are_whole_profiles(self) -> None:
        for adapter in STAND_INS:
            self.assertEqual(stand_in(adapter)["type"], adapter)


def result(name: str, status: str, message: str = "") -> dict:
    return {"unique_id": name, "status": status, "message": message}


class Results(unittest.TestCase):
    FIRST = [
        result("model.shop.a", "success"),
        result("model.shop.b", "error", 'Binder Error: column "x"\n  LINE 1'),
        result("test.shop.not_null_b_id.abc123", "skipped"),
    ]
    WANTED = ["model.shop.a", "model.shop.b", "test.shop.not_null_b_id.abc123", "model.shop.never"]

    def test_a_retry_runs_what_failed_was_skipped_or_never_reached(self) -> None:
        self.assertEqual(results.unfinished(self.FIRST, self.WANTED), self.WANTED[1:])

    def test_everything_runs_when_nothing_is_known_or_all_had_succeeded(self) -> None:
        self.assertIsNone(results.unfinished(None, self.WANTED))
        self.assertIsNone(results.unfinished([result(name, "success") for name in self.WANTED], self.WANTED))
        self.assertIsNone(results.unfinished([result(name, "error") for name in self.WANTED], self.WANTED))

    def test_a_failure_names_the_nodes_first(self) -> None:
        text = results.failure_message(self.FIRST, {"model.shop.b": "models/b.sql"})
        self.assertEqual(text, 'model b failed (1 of 3; 1 skipped). b (models/b.sql): Binder Error: column "x" LINE 1')

    def test_later_results_replace_earlier_ones(self) -> None:
        both = results.merged(self.FIRST, [result("model.shop.b", "success")])
        self.assertEqual([one["status"] for one in both], ["success", "success", "skipped"])
        self.assertEqual(results.summary("build", both)["statuses"], {"skipped": 1, "success": 2})

    def test_names(self) -> None:
        self.assertEqual(results.name_of("model.shop.orders.v2"), "orders.v2")
        self.assertEqual(results.name_of("test.shop.not_null_b_id.abc123"), "not_null_b_id")
