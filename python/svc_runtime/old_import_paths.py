"""Import paths of older Airflow versions that are gone for good, each with what to write instead."""

from __future__ import annotations

GONE: dict[str, str] = {
    "airflow.operators.subdag": "SubDAGs do not exist any more; use a TaskGroup",
    "airflow.operators.subdag_operator": "SubDAGs do not exist any more; use a TaskGroup",
    "airflow.contrib": "import the class from its provider package (airflow.providers.…)",
    "airflow.www": "the web server is not part of the authoring interface",
    "airflow.api": "use the REST API",
    "airflow.jobs": "jobs are not part of the authoring interface",
    "airflow.hooks.dbapi": "import DbApiHook from airflow.providers.common.sql.hooks.sql",
    "airflow.operators.sql": "import the operators from airflow.providers.common.sql.operators.sql",
    "airflow.operators.postgres_operator": "import SQLExecuteQueryOperator from airflow.providers.common.sql.operators.sql",
    "airflow.operators.mysql_operator": "import SQLExecuteQueryOperator from airflow.providers.common.sql.operators.sql",
    "airflow.operators.http_operator": "import HttpOperator from airflow.providers.http.operators.http",
    "airflow.sensors.http_sensor": "import HttpSensor from airflow.providers.http.sensors.http",
    "airflow.sensors.sql": "import SqlSensor from airflow.providers.common.sql.sensors.sql",
    "airflow.hooks.postgres_hook": "import PostgresHook from airflow.providers.postgres.hooks.postgres",
    "airflow.hooks.mysql_hook": "import MySqlHook from airflow.providers.mysql.hooks.mysql",
    "airflow.hooks.http_hook": "import HttpHook from airflow.providers.http.hooks.http",
    "airflow.hooks.S3_hook": "import S3Hook from airflow.providers.amazon.aws.hooks.s3",
}
