/**
 * Common connection types and their forms: standard fields with another title, an example or no use, and the fields
 * that are stored in `extra`. The facts come from the provider packages and are written down here, because the control
 * plane runs none of them.
 */
export type Field = { hidden: boolean; title: string | null; placeholder: string | null };
export type StandardField = 'description' | 'url_schema' | 'host' | 'port' | 'login' | 'password';
/** The form of a DAG param. The UI draws both with the same component. */
export type ExtraField = { value: unknown; schema: object; description: string | null; source: null };

export type HookForm = {
  connectionType: string;
  hookClass: string | null;
  defaultConnection: string | null;
  name: string;
  fields?: Partial<Record<StandardField, Partial<Field>>>;
  extra?: Readonly<Record<string, ExtraField>>;
};

const text = (title: string, description: string | null = null): ExtraField => ({
  value: null,
  schema: { type: ['string', 'null'], title },
  description,
  source: null,
});
/** A password field. Its name is sensitive, so its value is masked in answers. */
const secret = (title: string): ExtraField => ({
  value: null,
  schema: { type: ['string', 'null'], title, format: 'password' },
  description: null,
  source: null,
});
const long = (title: string): ExtraField => ({
  value: null,
  schema: { type: ['string', 'null'], title, format: 'multiline' },
  description: null,
  source: null,
});
const flag = (title: string, value = false): ExtraField => ({
  value,
  schema: { type: ['boolean', 'null'], title },
  description: null,
  source: null,
});
const number = (title: string, value: number | null = null): ExtraField => ({
  value,
  schema: { type: ['integer', 'null'], title },
  description: null,
  source: null,
});

const HIDDEN = { hidden: true };
const titled = (title: string, placeholder: string | null = null) => ({ title, placeholder });
const DATABASE = { url_schema: titled('Database') };
const ONLY_EXTRA = { host: HIDDEN, url_schema: HIDDEN, login: HIDDEN, password: HIDDEN, port: HIDDEN };

/** A database with host, port, login and password. Only the field `schema` has another title. */
const database = (connectionType: string, name: string, hookClass: string): HookForm => ({
  connectionType,
  name,
  hookClass: `airflow.providers.${hookClass}`,
  defaultConnection: `${connectionType}_default`,
  fields: DATABASE,
});

const DATABASES: readonly HookForm[] = [
  database('postgres', 'Postgres', 'postgres.hooks.postgres.PostgresHook'),
  database('mysql', 'MySQL', 'mysql.hooks.mysql.MySqlHook'),
  database('mssql', 'Microsoft SQL Server', 'microsoft.mssql.hooks.mssql.MsSqlHook'),
  database('oracle', 'Oracle', 'oracle.hooks.oracle.OracleHook'),
  database('vertica', 'Vertica', 'vertica.hooks.vertica.VerticaHook'),
  database('teradata', 'Teradata', 'teradata.hooks.teradata.TeradataHook'),
  database('redshift', 'Amazon Redshift', 'amazon.aws.hooks.redshift_sql.RedshiftSQLHook'),
  database('odbc', 'ODBC', 'odbc.hooks.odbc.OdbcHook'),
  database('neo4j', 'Neo4j', 'neo4j.hooks.neo4j.Neo4jHook'),
  database('elasticsearch', 'Elasticsearch', 'elasticsearch.hooks.elasticsearch.ElasticsearchSQLHook'),
  database('opensearch', 'OpenSearch', 'opensearch.hooks.opensearch.OpenSearchHook'),
  database('hiveserver2', 'Hive Server 2', 'apache.hive.hooks.hive.HiveServer2Hook'),
  {
    ...database('trino', 'Trino', 'trino.hooks.trino.TrinoHook'),
    fields: { url_schema: titled('Catalog schema') },
    extra: { catalog: text('Catalog'), protocol: text('Protocol', 'http or https') },
  },
  {
    ...database('sqlite', 'Sqlite', 'sqlite.hooks.sqlite.SqliteHook'),
    fields: { host: titled('Path', '/data/my.db'), port: HIDDEN, login: HIDDEN, password: HIDDEN, url_schema: HIDDEN },
  },
  {
    ...database('jdbc', 'JDBC Connection', 'jdbc.hooks.jdbc.JdbcHook'),
    fields: {
      host: titled('Connection URL', 'jdbc:postgresql://host:5432/database'),
      port: HIDDEN,
      url_schema: HIDDEN,
    },
    extra: { driver_path: text('Driver Path'), driver_class: text('Driver Class') },
  },
  {
    ...database('mongo', 'MongoDB', 'mongo.hooks.mongo.MongoHook'),
    fields: { url_schema: titled('Default DB') },
    extra: { srv: flag('SRV Connection'), ssl: flag('Use SSL'), allow_insecure: flag('Allow Invalid Certificates') },
  },
  {
    ...database('cassandra', 'Cassandra', 'apache.cassandra.hooks.cassandra.CassandraHook'),
    fields: { url_schema: titled('Keyspace') },
  },
  {
    ...database('redis', 'Redis', 'redis.hooks.redis.RedisHook'),
    fields: { url_schema: HIDDEN },
    extra: { db: number('DB', 0), ssl: flag('Enable SSL'), ssl_cert_reqs: text('SSL verify mode') },
  },
  {
    ...database('snowflake', 'Snowflake', 'snowflake.hooks.snowflake.SnowflakeHook'),
    fields: { port: HIDDEN, host: HIDDEN, url_schema: titled('Schema', 'snowflake schema') },
    extra: {
      account: text('Account'),
      warehouse: text('Warehouse'),
      database: text('Database'),
      region: text('Region'),
      role: text('Role'),
      private_key_file: text('Private key (Path)'),
      private_key_content: secret('Private key (Text)'),
      insecure_mode: flag('Insecure mode'),
    },
  },
];

const CLOUDS: readonly HookForm[] = [
  {
    connectionType: 'aws',
    name: 'Amazon Web Services',
    hookClass: 'airflow.providers.amazon.aws.hooks.base_aws.AwsGenericHook',
    defaultConnection: 'aws_default',
    fields: {
      host: HIDDEN,
      url_schema: HIDDEN,
      port: HIDDEN,
      login: titled('AWS Access Key ID', 'AKIAIOSFODNN7EXAMPLE'),
      password: titled('AWS Secret Access Key'),
    },
    extra: {
      region_name: text('Region Name'),
      role_arn: text('Role ARN'),
      profile_name: text('Profile Name'),
      endpoint_url: text('Endpoint URL'),
    },
  },
  {
    connectionType: 'google_cloud_platform',
    name: 'Google Cloud',
    hookClass: 'airflow.providers.google.common.hooks.base_google.GoogleBaseHook',
    defaultConnection: 'google_cloud_default',
    fields: ONLY_EXTRA,
    extra: {
      project: text('Project Id'),
      key_path: text('Keyfile Path'),
      keyfile_dict: secret('Keyfile JSON'),
      scope: text('Scopes (comma separated)'),
      num_retries: number('Number of Retries', 5),
      impersonation_chain: text('Impersonation Chain'),
    },
  },
  {
    connectionType: 'azure',
    name: 'Azure',
    hookClass: 'airflow.providers.microsoft.azure.hooks.base_azure.AzureBaseHook',
    defaultConnection: 'azure_default',
    fields: {
      host: HIDDEN,
      url_schema: HIDDEN,
      port: HIDDEN,
      login: titled('Azure Client ID'),
      password: titled('Azure Secret'),
    },
    extra: { tenantId: text('Azure Tenant ID'), subscriptionId: text('Azure Subscription ID') },
  },
  {
    connectionType: 'wasb',
    name: 'Azure Blob Storage',
    hookClass: 'airflow.providers.microsoft.azure.hooks.wasb.WasbHook',
    defaultConnection: 'wasb_default',
    fields: {
      url_schema: HIDDEN,
      port: HIDDEN,
      host: titled('Account URL', 'https://account.blob.core.windows.net'),
      login: titled('Blob Storage Login'),
      password: titled('Blob Storage Key'),
    },
    extra: {
      tenant_id: text('Tenant Id'),
      sas_token: secret('SAS Token'),
      shared_access_key: secret('Shared Access Key'),
    },
  },
  {
    connectionType: 'databricks',
    name: 'Databricks',
    hookClass: 'airflow.providers.databricks.hooks.databricks.DatabricksHook',
    defaultConnection: 'databricks_default',
    fields: { url_schema: HIDDEN, port: HIDDEN, host: titled('Workspace URL', 'https://adb-1.azuredatabricks.net') },
    extra: { http_path: text('HTTP Path'), token: secret('Token') },
  },
  {
    connectionType: 'kubernetes',
    name: 'Kubernetes Cluster Connection',
    hookClass: 'airflow.providers.cncf.kubernetes.hooks.kubernetes.KubernetesHook',
    defaultConnection: 'kubernetes_default',
    fields: ONLY_EXTRA,
    extra: {
      in_cluster: flag('In cluster configuration'),
      kube_config_path: text('Kube config path'),
      kube_config: long('Kube config (JSON format)'),
      namespace: text('Namespace'),
      cluster_context: text('Cluster context'),
      disable_verify_ssl: flag('Disable SSL'),
    },
  },
];

/** A service with an address and a login. Further settings are stored in `extra` unchanged. */
const service = (
  connectionType: string,
  name: string,
  hookClass: string,
  form: Pick<HookForm, 'fields' | 'extra'> = {},
): HookForm => ({
  connectionType,
  name,
  hookClass: `airflow.providers.${hookClass}`,
  defaultConnection: `${connectionType}_default`,
  ...form,
});

const SERVICES: readonly HookForm[] = [
  service('http', 'HTTP', 'http.hooks.http.HttpHook', {
    fields: { url_schema: titled('Scheme', 'https'), host: titled('Host', 'api.example.com') },
  }),
  service('ssh', 'SSH', 'ssh.hooks.ssh.SSHHook', {
    fields: { url_schema: HIDDEN, login: titled('Username') },
    extra: {
      key_file: text('Key file'),
      private_key: secret('Private Key'),
      private_key_passphrase: secret('Private key passphrase'),
      conn_timeout: number('Connection timeout', 10),
      no_host_key_check: flag('Disable host key check', true),
    },
  }),
  service('sftp', 'SFTP', 'sftp.hooks.sftp.SFTPHook', {
    fields: { url_schema: HIDDEN, login: titled('Username') },
    extra: {
      key_file: text('Key file'),
      private_key: secret('Private Key'),
      no_host_key_check: flag('Disable host key check', true),
    },
  }),
  service('ftp', 'FTP', 'ftp.hooks.ftp.FTPHook', {
    fields: { url_schema: HIDDEN },
    extra: { passive: flag('Passive', true) },
  }),
  service('imap', 'IMAP', 'imap.hooks.imap.ImapHook', {
    fields: { url_schema: HIDDEN },
    extra: { use_ssl: flag('Use SSL', true) },
  }),
  service('smtp', 'SMTP', 'smtp.hooks.smtp.SmtpHook', {
    fields: { url_schema: HIDDEN },
    extra: {
      from_email: text('From email'),
      timeout: number('Connection timeout', 30),
      retry_limit: number('Number of Retries', 5),
      disable_tls: flag('Disable TLS'),
      disable_ssl: flag('Disable SSL'),
    },
  }),
  service('slack', 'Slack API', 'slack.hooks.slack.SlackHook', {
    fields: { url_schema: HIDDEN, port: HIDDEN, host: HIDDEN, login: HIDDEN, password: titled('Slack API Token') },
    extra: { timeout: number('Timeout'), base_url: text('Base URL'), proxy: text('Proxy') },
  }),
  service('slackwebhook', 'Slack Incoming Webhook', 'slack.hooks.slack_webhook.SlackWebhookHook', {
    fields: {
      url_schema: titled('Scheme'),
      port: HIDDEN,
      host: titled('Slack Webhook Endpoint'),
      login: HIDDEN,
      password: titled('Webhook Token'),
    },
    extra: { timeout: number('Timeout'), proxy: text('Proxy') },
  }),
  service('docker', 'Docker', 'docker.hooks.docker.DockerHook', {
    fields: { url_schema: HIDDEN, host: titled('Registry URL'), login: titled('Username') },
    extra: { reauth: flag('Reauthenticate', true), email: text('Email') },
  }),
  service('kafka', 'Apache Kafka', 'apache.kafka.hooks.base.KafkaBaseHook', {
    fields: ONLY_EXTRA,
    extra: { 'bootstrap.servers': text('Bootstrap Servers') },
  }),
  service('spark', 'Spark', 'apache.spark.hooks.spark_submit.SparkSubmitHook', {
    fields: { url_schema: HIDDEN, login: HIDDEN, password: HIDDEN },
    extra: { queue: text('YARN queue'), 'deploy-mode': text('Deploy mode', 'client or cluster') },
  }),
  service('hive_cli', 'Hive Client Wrapper', 'apache.hive.hooks.hive.HiveCliHook'),
  service('airbyte', 'Airbyte', 'airbyte.hooks.airbyte.AirbyteHook', {
    fields: {
      url_schema: titled('Token URL'),
      login: titled('Client ID'),
      password: titled('Client Secret'),
      port: HIDDEN,
    },
  }),
  service('dbt_cloud', 'dbt Cloud', 'dbt.cloud.hooks.dbt.DbtCloudHook', {
    fields: {
      url_schema: HIDDEN,
      port: HIDDEN,
      host: titled('Tenant', 'cloud.getdbt.com'),
      login: titled('Account ID'),
      password: titled('API Token'),
    },
  }),
  service('salesforce', 'Salesforce', 'salesforce.hooks.salesforce.SalesforceHook', {
    fields: { url_schema: HIDDEN, port: HIDDEN, login: titled('Username') },
    extra: { security_token: secret('Security Token'), domain: text('Domain'), consumer_key: text('Consumer Key') },
  }),
  service('sendgrid', 'Sendgrid', 'sendgrid.utils.emailer', {
    fields: { host: HIDDEN, url_schema: HIDDEN, port: HIDDEN, password: titled('API Key') },
  }),
  service('pagerduty', 'Pagerduty', 'pagerduty.hooks.pagerduty.PagerdutyHook', {
    fields: { port: HIDDEN, login: HIDDEN, url_schema: HIDDEN, host: HIDDEN, password: titled('Pagerduty API token') },
  }),
  service('tableau', 'Tableau', 'tableau.hooks.tableau.TableauHook', {
    extra: { site_id: text('Site ID'), verify: text('Verify') },
  }),
];

const STANDARD: readonly HookForm[] = [
  { connectionType: 'generic', name: 'Generic', hookClass: null, defaultConnection: null },
  {
    connectionType: 'fs',
    name: 'File (path)',
    hookClass: 'airflow.providers.standard.hooks.filesystem.FSHook',
    defaultConnection: 'fs_default',
    fields: ONLY_EXTRA,
    extra: { path: text('Path') },
  },
  {
    connectionType: 'package_index',
    name: 'Package Index (Python)',
    hookClass: 'airflow.providers.standard.hooks.package_index.PackageIndexHook',
    defaultConnection: 'package_index_default',
    fields: { url_schema: HIDDEN, port: HIDDEN, host: titled('Package Index URL') },
  },
  { connectionType: 'email', name: 'Email', hookClass: null, defaultConnection: null },
];

export const HOOK_FORMS: readonly HookForm[] = [...STANDARD, ...DATABASES, ...CLOUDS, ...SERVICES].toSorted((a, b) =>
  a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1,
);
