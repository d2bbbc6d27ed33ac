"""Import paths of Airflow 1 and 2: what each is called now, and what is gone for good.

One table for everybody who asks: imports (an old path loads what the new one does), warnings of the compiler, `svc fix` and
`svc check`. A line is `old module  names  new module`; `Old=New` is a name that changed as well.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TABLE = """
airflow.decorators  dag task task_group setup teardown  airflow.sdk
airflow.decorators.task_group  task_group  airflow.sdk
airflow.decorators.base  DecoratedOperator TaskDecorator task_decorator_factory  airflow.sdk.bases.decorator
airflow.models  DAG BaseOperator BaseOperatorLink Connection Param Variable XComArg  airflow.sdk
airflow.models  SkipMixin  airflow.providers.standard.utils.skipmixin
airflow.models.dag  DAG dag  airflow.sdk
airflow.models.baseoperator  BaseOperator BaseOperatorLink chain chain_linear cross_downstream  airflow.sdk
airflow.models.baseoperatorlink  BaseOperatorLink  airflow.sdk
airflow.models.connection  Connection  airflow.sdk
airflow.models.variable  Variable  airflow.sdk
airflow.models.param  Param ParamsDict  airflow.sdk
airflow.models.xcom_arg  XComArg  airflow.sdk
airflow.models.skipmixin  SkipMixin  airflow.providers.standard.utils.skipmixin
airflow.models.taskinstance  get_current_context  airflow.sdk
airflow.models.dataset  Dataset=Asset  airflow.sdk
airflow.datasets  Dataset=Asset DatasetAlias=AssetAlias DatasetAll=AssetAll DatasetAny=AssetAny  airflow.sdk
airflow.datasets.metadata  Metadata  airflow.sdk
airflow.assets  Asset AssetAlias AssetAll AssetAny  airflow.sdk
airflow.assets.metadata  Metadata  airflow.sdk
airflow  Dataset=Asset  airflow.sdk
airflow.timetables.datasets  DatasetOrTimeSchedule=AssetOrTimeSchedule  airflow.timetables.assets
airflow.timetables.simple  DatasetTriggeredTimetable=AssetTriggeredTimetable  airflow.timetables.simple
airflow.notifications.basenotifier  BaseNotifier  airflow.sdk
airflow.io  ObjectStoragePath  airflow.sdk
airflow.io.path  ObjectStoragePath  airflow.sdk
airflow.utils  timezone  airflow.sdk
airflow.utils.timezone  *  airflow.sdk.timezone
airflow.utils.context  Context  airflow.sdk
airflow.utils.dag_parsing_context  get_parsing_context  airflow.sdk
airflow.utils.edgemodifier  Label EdgeModifier  airflow.sdk
airflow.utils.helpers  chain cross_downstream  airflow.sdk
airflow.utils.log.secrets_masker  mask_secret  airflow.sdk.log
airflow.utils.state  TaskInstanceState DagRunState  airflow.sdk
airflow.utils.task_group  TaskGroup  airflow.sdk
airflow.utils.trigger_rule  TriggerRule  airflow.sdk
airflow.utils.weekday  WeekDay  airflow.providers.standard.utils.weekday
airflow.utils.weight_rule  WeightRule  airflow.sdk
airflow.macros  *  airflow.sdk.execution_time.macros
airflow.hooks.base  BaseHook  airflow.sdk
airflow.hooks.base_hook  BaseHook  airflow.sdk
airflow.sensors.base  BaseSensorOperator PokeReturnValue poke_mode_only  airflow.sdk
airflow.sensors.base_sensor_operator  BaseSensorOperator  airflow.sdk

airflow.operators  BashOperator  airflow.providers.standard.operators.bash
airflow.operators  PythonOperator BranchPythonOperator ShortCircuitOperator  airflow.providers.standard.operators.python
airflow.operators  DummyOperator=EmptyOperator  airflow.providers.standard.operators.empty
airflow.operators  TriggerDagRunOperator  airflow.providers.standard.operators.trigger_dagrun
airflow.operators  EmailOperator  airflow.providers.smtp.operators.smtp
airflow.operators.bash  BashOperator  airflow.providers.standard.operators.bash
airflow.operators.bash_operator  BashOperator  airflow.providers.standard.operators.bash
airflow.operators.python  PythonOperator BranchPythonOperator ShortCircuitOperator PythonVirtualenvOperator ExternalPythonOperator BranchPythonVirtualenvOperator BranchExternalPythonOperator is_venv_installed  airflow.providers.standard.operators.python
airflow.operators.python  get_current_context task  airflow.sdk
airflow.operators.python_operator  PythonOperator BranchPythonOperator ShortCircuitOperator PythonVirtualenvOperator  airflow.providers.standard.operators.python
airflow.operators.empty  EmptyOperator  airflow.providers.standard.operators.empty
airflow.operators.dummy  DummyOperator=EmptyOperator EmptyOperator  airflow.providers.standard.operators.empty
airflow.operators.dummy_operator  DummyOperator=EmptyOperator EmptyOperator  airflow.providers.standard.operators.empty
airflow.operators.branch  BaseBranchOperator BranchMixIn  airflow.providers.standard.operators.branch
airflow.operators.branch_operator  BaseBranchOperator  airflow.providers.standard.operators.branch
airflow.operators.datetime  BranchDateTimeOperator  airflow.providers.standard.operators.datetime
airflow.operators.latest_only  LatestOnlyOperator  airflow.providers.standard.operators.latest_only
airflow.operators.latest_only_operator  LatestOnlyOperator  airflow.providers.standard.operators.latest_only
airflow.operators.smooth  SmoothOperator  airflow.providers.standard.operators.smooth
airflow.operators.trigger_dagrun  TriggerDagRunOperator TriggerDagRunLink  airflow.providers.standard.operators.trigger_dagrun
airflow.operators.dagrun_operator  TriggerDagRunOperator  airflow.providers.standard.operators.trigger_dagrun
airflow.operators.weekday  BranchDayOfWeekOperator  airflow.providers.standard.operators.weekday
airflow.operators.email  EmailOperator  airflow.providers.smtp.operators.smtp
airflow.operators.email_operator  EmailOperator  airflow.providers.smtp.operators.smtp
airflow.operators.generic_transfer  GenericTransfer  airflow.providers.common.sql.operators.generic_transfer
airflow.operators.sql  SQLCheckOperator SQLValueCheckOperator SQLIntervalCheckOperator SQLThresholdCheckOperator BranchSQLOperator SQLExecuteQueryOperator SQLColumnCheckOperator SQLTableCheckOperator  airflow.providers.common.sql.operators.sql
airflow.operators.sql_branch_operator  BranchSQLOperator BranchSqlOperator=BranchSQLOperator  airflow.providers.common.sql.operators.sql
airflow.operators.check_operator  CheckOperator=SQLCheckOperator ValueCheckOperator=SQLValueCheckOperator IntervalCheckOperator=SQLIntervalCheckOperator ThresholdCheckOperator=SQLThresholdCheckOperator  airflow.providers.common.sql.operators.sql
airflow.sensors.python  PythonSensor  airflow.providers.standard.sensors.python
airflow.sensors.python  PokeReturnValue  airflow.sdk
airflow.sensors.bash  BashSensor  airflow.providers.standard.sensors.bash
airflow.sensors.date_time  DateTimeSensor DateTimeSensorAsync  airflow.providers.standard.sensors.date_time
airflow.sensors.date_time_sensor  DateTimeSensor  airflow.providers.standard.sensors.date_time
airflow.sensors.time_sensor  TimeSensor TimeSensorAsync  airflow.providers.standard.sensors.time
airflow.sensors.time_delta  TimeDeltaSensor TimeDeltaSensorAsync WaitSensor  airflow.providers.standard.sensors.time_delta
airflow.sensors.time_delta_sensor  TimeDeltaSensor  airflow.providers.standard.sensors.time_delta
airflow.sensors.weekday  DayOfWeekSensor  airflow.providers.standard.sensors.weekday
airflow.sensors.external_task  ExternalTaskSensor ExternalTaskMarker  airflow.providers.standard.sensors.external_task
airflow.sensors.external_task_sensor  ExternalTaskSensor ExternalTaskMarker  airflow.providers.standard.sensors.external_task
airflow.sensors.filesystem  FileSensor  airflow.providers.standard.sensors.filesystem
airflow.sensors.sql  SqlSensor  airflow.providers.common.sql.sensors.sql
airflow.sensors.sql_sensor  SqlSensor  airflow.providers.common.sql.sensors.sql
airflow.hooks.filesystem  FSHook  airflow.providers.standard.hooks.filesystem
airflow.hooks.package_index  PackageIndexHook  airflow.providers.standard.hooks.package_index
airflow.hooks.subprocess  SubprocessHook SubprocessResult  airflow.providers.standard.hooks.subprocess
airflow.hooks.dbapi  DbApiHook  airflow.providers.common.sql.hooks.sql
airflow.hooks.dbapi_hook  DbApiHook  airflow.providers.common.sql.hooks.sql
airflow.triggers.temporal  DateTimeTrigger TimeDeltaTrigger  airflow.providers.standard.triggers.temporal
airflow.triggers.file  FileTrigger FileDeleteTrigger  airflow.providers.standard.triggers.file
airflow.triggers.external_task  WorkflowTrigger DagStateTrigger  airflow.providers.standard.triggers.external_task

airflow.operators.http_operator  SimpleHttpOperator=HttpOperator  airflow.providers.http.operators.http
airflow.providers.http.operators.http  SimpleHttpOperator=HttpOperator  airflow.providers.http.operators.http
airflow.sensors.http_sensor  HttpSensor  airflow.providers.http.sensors.http
airflow.hooks.http_hook  HttpHook  airflow.providers.http.hooks.http
airflow.hooks.postgres_hook  PostgresHook  airflow.providers.postgres.hooks.postgres
airflow.hooks.mysql_hook  MySqlHook  airflow.providers.mysql.hooks.mysql
airflow.hooks.sqlite_hook  SqliteHook  airflow.providers.sqlite.hooks.sqlite
airflow.hooks.mssql_hook  MsSqlHook  airflow.providers.microsoft.mssql.hooks.mssql
airflow.hooks.oracle_hook  OracleHook  airflow.providers.oracle.hooks.oracle
airflow.hooks.jdbc_hook  JdbcHook  airflow.providers.jdbc.hooks.jdbc
airflow.hooks.presto_hook  PrestoHook  airflow.providers.presto.hooks.presto
airflow.hooks.druid_hook  DruidHook DruidDbApiHook  airflow.providers.apache.druid.hooks.druid
airflow.hooks.hive_hooks  HiveCliHook HiveMetastoreHook HiveServer2Hook  airflow.providers.apache.hive.hooks.hive
airflow.hooks.pig_hook  PigCliHook  airflow.providers.apache.pig.hooks.pig
airflow.hooks.webhdfs_hook  WebHDFSHook  airflow.providers.apache.hdfs.hooks.webhdfs
airflow.hooks.S3_hook  S3Hook  airflow.providers.amazon.aws.hooks.s3
airflow.hooks.slack_hook  SlackHook  airflow.providers.slack.hooks.slack
airflow.hooks.docker_hook  DockerHook  airflow.providers.docker.hooks.docker
airflow.hooks.samba_hook  SambaHook  airflow.providers.samba.hooks.samba
airflow.hooks.zendesk_hook  ZendeskHook  airflow.providers.zendesk.hooks.zendesk
airflow.operators.docker_operator  DockerOperator  airflow.providers.docker.operators.docker
airflow.operators.slack_operator  SlackAPIOperator SlackAPIPostOperator  airflow.providers.slack.operators.slack
airflow.operators.hive_operator  HiveOperator  airflow.providers.apache.hive.operators.hive
airflow.operators.hive_to_mysql  HiveToMySqlOperator HiveToMySqlTransfer=HiveToMySqlOperator  airflow.providers.apache.hive.transfers.hive_to_mysql
airflow.operators.mysql_to_hive  MySqlToHiveOperator MySqlToHiveTransfer=MySqlToHiveOperator  airflow.providers.apache.hive.transfers.mysql_to_hive
airflow.operators.s3_to_redshift_operator  S3ToRedshiftOperator S3ToRedshiftTransfer=S3ToRedshiftOperator  airflow.providers.amazon.aws.transfers.s3_to_redshift
airflow.operators.redshift_to_s3_operator  RedshiftToS3Operator RedshiftToS3Transfer=RedshiftToS3Operator  airflow.providers.amazon.aws.transfers.redshift_to_s3
airflow.operators.google_api_to_s3_transfer  GoogleApiToS3Operator GoogleApiToS3Transfer=GoogleApiToS3Operator  airflow.providers.amazon.aws.transfers.google_api_to_s3
airflow.operators.s3_file_transform_operator  S3FileTransformOperator  airflow.providers.amazon.aws.operators.s3
airflow.operators.papermill_operator  PapermillOperator  airflow.providers.papermill.operators.papermill
airflow.operators.pig_operator  PigOperator  airflow.providers.apache.pig.operators.pig
airflow.sensors.s3_key_sensor  S3KeySensor  airflow.providers.amazon.aws.sensors.s3
airflow.sensors.hive_partition_sensor  HivePartitionSensor  airflow.providers.apache.hive.sensors.hive_partition
airflow.sensors.named_hive_partition_sensor  NamedHivePartitionSensor  airflow.providers.apache.hive.sensors.named_hive_partition
airflow.sensors.metastore_partition_sensor  MetastorePartitionSensor  airflow.providers.apache.hive.sensors.metastore_partition
airflow.sensors.web_hdfs_sensor  WebHdfsSensor  airflow.providers.apache.hdfs.sensors.web_hdfs

airflow.contrib.hooks.aws_hook  AwsHook=AwsGenericHook  airflow.providers.amazon.aws.hooks.base_aws
airflow.contrib.hooks.aws_athena_hook  AWSAthenaHook=AthenaHook  airflow.providers.amazon.aws.hooks.athena
airflow.contrib.hooks.aws_dynamodb_hook  AwsDynamoDBHook=DynamoDBHook  airflow.providers.amazon.aws.hooks.dynamodb
airflow.contrib.hooks.aws_lambda_hook  AwsLambdaHook=LambdaHook  airflow.providers.amazon.aws.hooks.lambda_function
airflow.contrib.hooks.aws_sns_hook  AwsSnsHook=SnsHook  airflow.providers.amazon.aws.hooks.sns
airflow.contrib.hooks.aws_sqs_hook  SQSHook=SqsHook  airflow.providers.amazon.aws.hooks.sqs
airflow.contrib.hooks.emr_hook  EmrHook  airflow.providers.amazon.aws.hooks.emr
airflow.contrib.hooks.redshift_hook  RedshiftHook  airflow.providers.amazon.aws.hooks.redshift_cluster
airflow.contrib.hooks.bigquery_hook  BigQueryHook  airflow.providers.google.cloud.hooks.bigquery
airflow.contrib.hooks.gcs_hook  GoogleCloudStorageHook=GCSHook GCSHook  airflow.providers.google.cloud.hooks.gcs
airflow.contrib.hooks.gcp_api_base_hook  GoogleCloudBaseHook=GoogleBaseHook  airflow.providers.google.common.hooks.base_google
airflow.contrib.hooks.gcp_dataproc_hook  DataProcHook=DataprocHook  airflow.providers.google.cloud.hooks.dataproc
airflow.contrib.hooks.gcp_pubsub_hook  PubSubHook  airflow.providers.google.cloud.hooks.pubsub
airflow.contrib.hooks.databricks_hook  DatabricksHook  airflow.providers.databricks.hooks.databricks
airflow.contrib.hooks.snowflake_hook  SnowflakeHook  airflow.providers.snowflake.hooks.snowflake
airflow.contrib.hooks.ssh_hook  SSHHook  airflow.providers.ssh.hooks.ssh
airflow.contrib.hooks.sftp_hook  SFTPHook  airflow.providers.sftp.hooks.sftp
airflow.contrib.hooks.ftp_hook  FTPHook FTPSHook  airflow.providers.ftp.hooks.ftp
airflow.contrib.hooks.fs_hook  FSHook  airflow.providers.standard.hooks.filesystem
airflow.contrib.hooks.mongo_hook  MongoHook  airflow.providers.mongo.hooks.mongo
airflow.contrib.hooks.redis_hook  RedisHook  airflow.providers.redis.hooks.redis
airflow.contrib.hooks.cassandra_hook  CassandraHook  airflow.providers.apache.cassandra.hooks.cassandra
airflow.contrib.hooks.vertica_hook  VerticaHook  airflow.providers.vertica.hooks.vertica
airflow.contrib.hooks.salesforce_hook  SalesforceHook  airflow.providers.salesforce.hooks.salesforce
airflow.contrib.hooks.slack_webhook_hook  SlackWebhookHook  airflow.providers.slack.hooks.slack_webhook
airflow.contrib.hooks.spark_submit_hook  SparkSubmitHook  airflow.providers.apache.spark.hooks.spark_submit
airflow.contrib.hooks.spark_sql_hook  SparkSqlHook  airflow.providers.apache.spark.hooks.spark_sql
airflow.contrib.hooks.wasb_hook  WasbHook  airflow.providers.microsoft.azure.hooks.wasb
airflow.contrib.hooks.jira_hook  JiraHook  airflow.providers.atlassian.jira.hooks.jira
airflow.contrib.hooks.pagerduty_hook  PagerdutyHook  airflow.providers.pagerduty.hooks.pagerduty
airflow.contrib.hooks.discord_webhook_hook  DiscordWebhookHook  airflow.providers.discord.hooks.discord_webhook
airflow.contrib.hooks.opsgenie_alert_hook  OpsgenieAlertHook  airflow.providers.opsgenie.hooks.opsgenie
airflow.contrib.operators.bigquery_operator  BigQueryCreateEmptyTableOperator BigQueryCreateEmptyDatasetOperator BigQueryDeleteDatasetOperator BigQueryUpdateDatasetOperator  airflow.providers.google.cloud.operators.bigquery
airflow.contrib.operators.bigquery_check_operator  BigQueryCheckOperator BigQueryValueCheckOperator BigQueryIntervalCheckOperator  airflow.providers.google.cloud.operators.bigquery
airflow.contrib.operators.bigquery_get_data  BigQueryGetDataOperator  airflow.providers.google.cloud.operators.bigquery
airflow.contrib.operators.bigquery_to_gcs  BigQueryToCloudStorageOperator=BigQueryToGCSOperator  airflow.providers.google.cloud.transfers.bigquery_to_gcs
airflow.contrib.operators.bigquery_to_bigquery  BigQueryToBigQueryOperator  airflow.providers.google.cloud.transfers.bigquery_to_bigquery
airflow.contrib.operators.gcs_to_bq  GoogleCloudStorageToBigQueryOperator=GCSToBigQueryOperator  airflow.providers.google.cloud.transfers.gcs_to_bigquery
airflow.contrib.operators.gcs_to_s3  GoogleCloudStorageToS3Operator=GCSToS3Operator  airflow.providers.amazon.aws.transfers.gcs_to_s3
airflow.contrib.operators.gcs_to_gcs  GoogleCloudStorageToGoogleCloudStorageOperator=GCSToGCSOperator  airflow.providers.google.cloud.transfers.gcs_to_gcs
airflow.contrib.operators.gcs_list_operator  GoogleCloudStorageListOperator=GCSListObjectsOperator  airflow.providers.google.cloud.operators.gcs
airflow.contrib.operators.gcs_delete_operator  GoogleCloudStorageDeleteOperator=GCSDeleteObjectsOperator  airflow.providers.google.cloud.operators.gcs
airflow.contrib.operators.file_to_gcs  FileToGoogleCloudStorageOperator=LocalFilesystemToGCSOperator  airflow.providers.google.cloud.transfers.local_to_gcs
airflow.contrib.operators.mysql_to_gcs  MySqlToGoogleCloudStorageOperator=MySQLToGCSOperator  airflow.providers.google.cloud.transfers.mysql_to_gcs
airflow.contrib.operators.postgres_to_gcs_operator  PostgresToGoogleCloudStorageOperator=PostgresToGCSOperator  airflow.providers.google.cloud.transfers.postgres_to_gcs
airflow.contrib.operators.s3_list_operator  S3ListOperator  airflow.providers.amazon.aws.operators.s3
airflow.contrib.operators.s3_copy_object_operator  S3CopyObjectOperator  airflow.providers.amazon.aws.operators.s3
airflow.contrib.operators.s3_delete_objects_operator  S3DeleteObjectsOperator  airflow.providers.amazon.aws.operators.s3
airflow.contrib.operators.sftp_to_s3_operator  SFTPToS3Operator  airflow.providers.amazon.aws.transfers.sftp_to_s3
airflow.contrib.operators.s3_to_sftp_operator  S3ToSFTPOperator  airflow.providers.amazon.aws.transfers.s3_to_sftp
airflow.contrib.operators.aws_athena_operator  AWSAthenaOperator=AthenaOperator  airflow.providers.amazon.aws.operators.athena
airflow.contrib.operators.awsbatch_operator  AWSBatchOperator=BatchOperator  airflow.providers.amazon.aws.operators.batch
airflow.contrib.operators.ecs_operator  ECSOperator=EcsRunTaskOperator  airflow.providers.amazon.aws.operators.ecs
airflow.contrib.operators.emr_create_job_flow_operator  EmrCreateJobFlowOperator  airflow.providers.amazon.aws.operators.emr
airflow.contrib.operators.emr_add_steps_operator  EmrAddStepsOperator  airflow.providers.amazon.aws.operators.emr
airflow.contrib.operators.emr_terminate_job_flow_operator  EmrTerminateJobFlowOperator  airflow.providers.amazon.aws.operators.emr
airflow.contrib.operators.sns_publish_operator  SnsPublishOperator  airflow.providers.amazon.aws.operators.sns
airflow.contrib.operators.databricks_operator  DatabricksSubmitRunOperator DatabricksRunNowOperator  airflow.providers.databricks.operators.databricks
airflow.contrib.operators.ssh_operator  SSHOperator  airflow.providers.ssh.operators.ssh
airflow.contrib.operators.sftp_operator  SFTPOperator  airflow.providers.sftp.operators.sftp
airflow.contrib.operators.slack_webhook_operator  SlackWebhookOperator  airflow.providers.slack.operators.slack_webhook
airflow.contrib.operators.spark_submit_operator  SparkSubmitOperator  airflow.providers.apache.spark.operators.spark_submit
airflow.contrib.operators.spark_sql_operator  SparkSqlOperator  airflow.providers.apache.spark.operators.spark_sql
airflow.contrib.operators.kubernetes_pod_operator  KubernetesPodOperator  airflow.providers.cncf.kubernetes.operators.pod
airflow.providers.cncf.kubernetes.operators.kubernetes_pod  KubernetesPodOperator  airflow.providers.cncf.kubernetes.operators.pod
airflow.contrib.operators.discord_webhook_operator  DiscordWebhookOperator  airflow.providers.discord.operators.discord_webhook
airflow.contrib.operators.winrm_operator  WinRMOperator  airflow.providers.microsoft.winrm.operators.winrm
airflow.contrib.sensors.python_sensor  PythonSensor  airflow.providers.standard.sensors.python
airflow.contrib.sensors.bash_sensor  BashSensor  airflow.providers.standard.sensors.bash
airflow.contrib.sensors.file_sensor  FileSensor  airflow.providers.standard.sensors.filesystem
airflow.contrib.sensors.weekday_sensor  DayOfWeekSensor  airflow.providers.standard.sensors.weekday
airflow.contrib.sensors.bigquery_sensor  BigQueryTableSensor=BigQueryTableExistenceSensor  airflow.providers.google.cloud.sensors.bigquery
airflow.contrib.sensors.gcs_sensor  GoogleCloudStorageObjectSensor=GCSObjectExistenceSensor GoogleCloudStoragePrefixSensor=GCSObjectsWithPrefixExistenceSensor  airflow.providers.google.cloud.sensors.gcs
airflow.contrib.sensors.pubsub_sensor  PubSubPullSensor  airflow.providers.google.cloud.sensors.pubsub
airflow.contrib.sensors.sftp_sensor  SFTPSensor  airflow.providers.sftp.sensors.sftp
airflow.contrib.sensors.ftp_sensor  FTPSensor FTPSSensor  airflow.providers.ftp.sensors.ftp
airflow.contrib.sensors.emr_job_flow_sensor  EmrJobFlowSensor  airflow.providers.amazon.aws.sensors.emr
airflow.contrib.sensors.emr_step_sensor  EmrStepSensor  airflow.providers.amazon.aws.sensors.emr
airflow.contrib.sensors.aws_sqs_sensor  SQSSensor=SqsSensor  airflow.providers.amazon.aws.sensors.sqs
airflow.contrib.sensors.redis_key_sensor  RedisKeySensor  airflow.providers.redis.sensors.redis_key
airflow.contrib.sensors.mongo_sensor  MongoSensor  airflow.providers.mongo.sensors.mongo
airflow.contrib.sensors.cassandra_table_sensor  CassandraTableSensor  airflow.providers.apache.cassandra.sensors.table
airflow.contrib.sensors.wasb_sensor  WasbBlobSensor WasbPrefixSensor  airflow.providers.microsoft.azure.sensors.wasb
"""

_SUBDAG = "SubDAGs do not exist any more; use a TaskGroup, or TriggerDagRunOperator for a DAG of its own"
_SQL_OPERATOR = "import SQLExecuteQueryOperator from airflow.providers.common.sql.operators.sql and name the connection with conn_id"

# Modules that are gone, with everything below them.
GONE: dict[str, str] = {
    "airflow.operators.subdag": _SUBDAG,
    "airflow.operators.subdag_operator": _SUBDAG,
    "airflow.contrib": "import the class from its provider package (airflow.providers.…)",
    "airflow.www": "the web server is not part of the authoring interface; remove it, or use a plugin of the web server's own",
    "airflow.api": "use the REST API",
    "airflow.jobs": "jobs are not part of the authoring interface; use the REST API",
    "airflow.migrations": "the metadata database is not part of the authoring interface",
    "airflow.operators.postgres_operator": _SQL_OPERATOR,
    "airflow.operators.mysql_operator": _SQL_OPERATOR,
    "airflow.operators.sqlite_operator": _SQL_OPERATOR,
    "airflow.operators.mssql_operator": _SQL_OPERATOR,
    "airflow.operators.oracle_operator": _SQL_OPERATOR,
    "airflow.operators.jdbc_operator": _SQL_OPERATOR,
    "airflow.operators.presto_to_mysql": "write the transfer as a task with the hooks, or use GenericTransfer",
    "airflow.utils.dot_renderer": "the web UI draws graphs of DAGs; use GET /api/v2/dags/…/tasks of the REST API for their edges",
    "airflow.utils.log.log_reader": "use GET /api/v2/dags/…/dagRuns/…/taskInstances/…/logs/… of the REST API",
    "airflow.triggers.testing": "it is part of Airflow's own tests; write a class that inherits BaseTrigger",
    "airflow.lineage.entities": "use assets (inlets= and outlets= of a task)",
    "airflow.lineage.AUTO": "use assets (inlets= and outlets= of a task)",
    "airflow.utils.file": "use tempfile and pathlib of Python",
    "airflow.utils.dag_cycle_tester": "cycles are refused when the file is compiled; use nothing in its place",
}

_DATABASE = "the metadata database cannot be reached from tasks and DAG files; use the task context (ti, dag_run), or the REST API"
_MODEL = "tables of Airflow's database cannot be read; use the task context (ti, dag_run), or the REST API"

# Names that may be imported, for annotations, and not used: a task that does would fail in every run.
GONE_NAMES: dict[str, str] = {
    "airflow.settings.Session": _DATABASE,
    "airflow.settings.engine": _DATABASE,
    "airflow.settings.create_session": _DATABASE,
    "airflow.utils.session.create_session": _DATABASE,
    "airflow.utils.session.provide_session": _DATABASE,
    "airflow.utils.session.NEW_SESSION": _DATABASE,
    "airflow.utils.db.create_session": _DATABASE,
    "airflow.utils.db.provide_session": _DATABASE,
    "airflow.operators.subdag.SubDagOperator": _SUBDAG,
    "airflow.operators.subdag_operator.SubDagOperator": _SUBDAG,
    **{
        f"airflow.models.{path}": _MODEL
        for path in (
            "Log log.Log TaskFail taskfail.TaskFail SlaMiss slamiss.SlaMiss TaskReschedule taskreschedule.TaskReschedule "
            "DagTag dag.DagTag DagPickle dagpickle.DagPickle KnownEvent Chart User ImportError errors.ImportError "
            "RenderedTaskInstanceFields renderedtifields.RenderedTaskInstanceFields Trigger trigger.Trigger "
            "serialized_dag.SerializedDagModel dagcode.DagCode dagwarning.DagWarning DbCallbackRequest dataset.DatasetModel "
            "dataset.DatasetEvent dataset.DatasetDagRunQueue Base base.Base"
        ).split()
    },
    **dict.fromkeys(
        ("airflow.models.DagRun", "airflow.models.dagrun.DagRun"),
        "runs cannot be looked up in the database; use dag_run of the context, ti.get_dagrun(), or GET /api/v2/dags/…/dagRuns of the REST API",
    ),
    **dict.fromkeys(
        (
            "airflow.models.TaskInstance",
            "airflow.models.taskinstance.TaskInstance",
            "airflow.models.taskinstance.clear_task_instances",
        ),
        "task instances cannot be looked up in the database; use ti.get_task_states() in a task, or the REST API",
    ),
    **dict.fromkeys(
        (
            "airflow.models.DagModel",
            "airflow.models.dag.DagModel",
            "airflow.models.DagBag",
            "airflow.models.dagbag.DagBag",
        ),
        "other DAGs cannot be looked up from a DAG file or a task; use the REST API",
    ),
    **dict.fromkeys(
        ("airflow.models.XCom", "airflow.models.xcom.XCom"),
        "XComs cannot be queried; use ti.xcom_pull() and ti.xcom_push(), or the REST API",
    ),
    **dict.fromkeys(
        ("airflow.models.Pool", "airflow.models.pool.Pool"),
        "pools cannot be read from the database; use the REST API or `svc` to manage them, and pool= of a task to name one",
    ),
    **dict.fromkeys(
        (
            "airflow.providers.postgres.operators.postgres.PostgresOperator",
            "airflow.providers.mysql.operators.mysql.MySqlOperator",
            "airflow.providers.sqlite.operators.sqlite.SqliteOperator",
            "airflow.providers.microsoft.mssql.operators.mssql.MsSqlOperator",
            "airflow.providers.snowflake.operators.snowflake.SnowflakeOperator",
            "airflow.providers.jdbc.operators.jdbc.JdbcOperator",
        ),
        _SQL_OPERATOR,
    ),
}
# Of GONE_NAMES, what an installed older provider still has: told, not refused.
ONLY_IN_NEWER_PROVIDERS = "airflow.providers."

_EXAMPLES = "airflow.example_dags"
_moved: dict[str, dict[str, str]] = {}


def moved() -> dict[str, dict[str, str]]:
    """Old module → name → dotted path of the present one; the name `*` is a module that moved whole."""
    if not _moved:
        for line in _TABLE.splitlines():
            if not line:
                continue
            old, names, new = line.split("  ")
            entry = _moved.setdefault(old, {})
            for name in names.split():
                before, _, after = name.partition("=")
                entry[before] = new if before == "*" else f"{new}.{after or before}"
    return _moved


def present_path(module: str, name: str) -> str | None:
    """What `module.name` is called now; None when the table does not know it or it is right as it is."""
    entry = moved().get(module)
    if entry is None:
        return None
    if "*" in entry:
        return f"{entry['*']}.{name}"
    found = entry.get(name)
    return None if found == f"{module}.{name}" else found


def present_module(module: str) -> str | None:
    """The one module that everything of an old one moved to under the same names; else None."""
    entry = moved().get(module)
    if entry is None:
        return None
    if "*" in entry:
        return entry["*"]
    homes = {path.rpartition(".")[0] for path in entry.values()}
    is_same = all(path.rpartition(".")[2] == name for name, path in entry.items())
    return homes.pop() if len(homes) == 1 and is_same else None


def load_moved(module: str, name: str):
    """The object an old name stands for; AttributeError when the table does not know it."""
    path = present_path(module, name)
    if path is None and f"{module}.{name}" in GONE_NAMES:
        return _gone(f"{module}.{name}")
    if path is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    home, _, attribute = path.rpartition(".")
    return getattr(import_module(home), attribute)


def _gone(path: str) -> type:
    """May be imported and named in hints; every use says what to do instead."""

    def refuse(*args, **kwargs):
        from .exceptions import RecordingError

        raise RecordingError(f"{path} is gone", GONE_NAMES[path])

    class Gone(type):
        def __getattr__(cls, name: str):
            return None if name.startswith("__") else refuse()

        __call__ = refuse

    return Gone(path.rpartition(".")[2], (), {"__module__": path.rpartition(".")[0]})


class _OldPath(ModuleType):
    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        value = load_moved(self.__name__, name)
        self.__dict__[name] = value
        return value


class _Finder:
    """Serves old modules that nobody else does."""

    present: dict[str, str] = {}
    _served: set[str] = set()

    @classmethod
    def find_spec(cls, fullname: str, path=None, target=None):
        if not fullname.startswith("airflow.") or fullname in cls.present:
            return None
        if fullname == _EXAMPLES:
            # Airflow's own examples import each other by this path: a copy of them in a repository may, too.
            return PathFinder.find_spec(fullname, [f"{place}/airflow" for place in sys.path])
        if not cls._served:
            for module in (*moved(), *(path.rpartition(".")[0] for path in GONE_NAMES)):
                if module.startswith(ONLY_IN_NEWER_PROVIDERS) or module in GONE:
                    continue
                parts = module.split(".")
                cls._served.update(".".join(parts[:count]) for count in range(2, len(parts) + 1))
        return ModuleSpec(fullname, _loader, is_package=True) if fullname in cls._served else None

    @staticmethod
    def create_module(spec):
        return _OldPath(spec.name)

    @staticmethod
    def exec_module(module) -> None:
        """Nothing to run; names load on demand."""


_loader: Any = _Finder  # a loader by shape


def serves(fullname: str) -> ModuleSpec | None:
    """How an old module would be loaded; None when there is none of this name."""
    return _Finder.find_spec(fullname)


def install(present: dict[str, str]) -> None:
    """Before the finder of present paths, which refuses what is gone. `present` are those it serves itself."""
    _Finder.present = present
    if not any(finder is _Finder for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder)
