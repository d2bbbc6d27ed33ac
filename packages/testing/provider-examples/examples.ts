/** Which example DAGs of providers the servers of servers.ts can carry; and of all the others, why not. */
import { IS_NIGHTLY } from '../nightly.ts';
import { exampleFiles } from './repository.ts';

const AMAZON = 'system/amazon/aws/example_';
const GOOGLE = 'system/google/cloud/';
const names = (prefix: string, list: string): string[] => list.split(/\s+/).map((name) => `${prefix}${name}.py`);

/** Run on Airflow and here. Those that fail there say why in the golden file, and fail here in the same tasks. */
const CARRIED = new Set([
  ...names(
    AMAZON,
    'athena comprehend dms dynamodb dynamodb_to_s3 ec2 ecr eventbridge ftp_to_s3 gcs_to_s3 glue glue_catalog glue_databrew http_to_s3 ' +
      'kinesis_message_queue lambda local_to_s3 neptune rds_event rds_instance rds_snapshot s3 s3_to_dynamodb s3_to_ftp s3_to_sftp ses ' +
      'sftp_to_s3 sns sqs ssm',
  ),
  ...names(
    `${GOOGLE}gcs/example_`,
    'gcs_acl gcs_copy_delete gcs_sensor gcs_to_gcs gcs_to_sftp gcs_transform gcs_transform_timespan gcs_upload_download ' +
      'http_to_gcs sftp_to_gcs',
  ),
  `${GOOGLE}transfers/example_gcs_to_sftp.py`,
  'system/common/io/example_file_transfer_local_to_s3.py',
  ...names(
    'system/common/sql/example_',
    'generic_transfer sql_bulk_load sql_column_table_check sql_execute_query sql_insert_rows sql_threshold_check sql_value_check',
  ),
  'system/dbt/cloud/example_dbt_cloud.py',
  'system/ftp/example_ftp.py',
  'system/http/example_http.py',
  ...names('system/papermill/example_', 'papermill papermill_remote_verify papermill_verify'),
  'system/postgres/example_postgres.py',
  ...names('system/redis/example_', 'dag_message_queue_trigger redis_publish'),
  ...names('system/slack/example_', 'slack slack_webhook sql_to_slack'),
  'system/sqlite/example_sqlite.py',
]);

/**
 * Run by day: one example of each provider, and those that end differently here on purpose. providers.services.test.ts runs
 * operators of each provider with checks of what they did.
 */
const BY_DAY: ReadonlySet<string> = new Set([
  ...names(AMAZON, 'http_to_s3 sqs'),
  `${GOOGLE}gcs/example_gcs_upload_download.py`,
  `${GOOGLE}transfers/example_gcs_to_sftp.py`,
  'system/common/io/example_file_transfer_local_to_s3.py',
  'system/common/sql/example_sql_column_table_check.py',
  'system/dbt/cloud/example_dbt_cloud.py',
  'system/ftp/example_ftp.py',
  'system/http/example_http.py',
  ...names('system/papermill/example_', 'papermill papermill_remote_verify'),
  'system/postgres/example_postgres.py',
  'system/redis/example_redis_publish.py',
  'system/slack/example_slack_webhook.py',
  'system/sqlite/example_sqlite.py',
]);

const MOTO_LACKS = 'tried: fails on Airflow, since moto does not do what it asks';
const NOT_TRIED = 'not tried:';
/** By the first pattern that fits; checked to fit all that are not run. Where nobody has tried, it is what the file asks for. */
const LEFT_OUT: readonly (readonly [RegExp, string])[] = [
  [
    /amazon\/.*example_(?:redshift_s3_transfers|sql_to_s3)\./,
    'tried: never ends, since statements of the data API of Redshift never finish in moto',
  ],
  [
    /amazon\/.*example_step_functions\./,
    'tried: never ends, since moto starts executions of state machines and runs none',
  ],
  [/amazon\/.*example_glacier_to_gcs\./, 'tried: its sensor looks a second time after twenty minutes'],
  [/amazon\/.*example_kinesis_analytics\./, 'tried: fetches a program from github.com'],
  [
    /example_(?:duckdb|imap_attachment_to_s3)/,
    'tried: does not load without a package that the provider does not bring',
  ],
  [
    /amazon\/.*example_(?:comprehend_document_classifier|ecs|emr|mwaa|neptune_analytics|rds_export)\./,
    'tried: asks for names of things that are in the account already',
  ],
  [/amazon\/.*example_(?:appflow|appflow_run|cloudformation|s3_tables|s3_vectors|opensearch_serverless)\./, MOTO_LACKS],
  [
    /amazon\/.*example_(?:batch|bedrock_guardrail|datasync|quicksight|redshift|sagemaker_endpoint|s3_to_sql)\./,
    MOTO_LACKS,
  ],
  [/^system\/amazon\//, `${NOT_TRIED} another service of AWS, or one that is not of AWS`],
  [/gdrive|drive|sheets|calendar/, 'needs Google Drive, Sheets or Calendar'],
  [
    /google\/cloud\/(?:gcs|transfers)\//,
    'tried: does not load without other libraries of Google, of databases or of services',
  ],
  [/^system\/google\//, `${NOT_TRIED} another service of Google`],
  [/example_sql_to_slack_webhook/, 'tried: needs Presto'],
  [
    /example_sftp_sensor/,
    `${NOT_TRIED} its sensors wait for a file of a task beside them, and DAG.test() runs one task after the other`,
  ],
];

export const carriedExamples = (dags: string): string[] => exampleFiles(dags).filter((file) => CARRIED.has(file));

/** Those that a test runs: by day a quarter of them, at night all. */
export const examplesToRun = (dags: string): string[] =>
  carriedExamples(dags).filter((file) => IS_NIGHTLY || BY_DAY.has(file));

/** Why it is not run; nothing when it is. */
export const whyLeftOut = (file: string): string | undefined =>
  CARRIED.has(file) ? undefined : LEFT_OUT.find(([pattern]) => pattern.test(file))?.[1];
