/** Extras of `apache-airflow`, and the packages each stands for. Most are named as their provider is. */

const PROVIDER = 'apache-airflow-providers-';

/** Names of old, and those of a product whose provider has a longer name. */
const RENAMED: Readonly<Record<string, string>> = {
  aws: 'amazon',
  azure: 'microsoft-azure',
  beam: 'apache-beam',
  cassandra: 'apache-cassandra',
  drill: 'apache-drill',
  druid: 'apache-druid',
  flink: 'apache-flink',
  gcp: 'google',
  'gcp-api': 'google',
  hdfs: 'apache-hdfs',
  hive: 'apache-hive',
  iceberg: 'apache-iceberg',
  impala: 'apache-impala',
  jira: 'atlassian-jira',
  kafka: 'apache-kafka',
  kubernetes: 'cncf-kubernetes',
  kylin: 'apache-kylin',
  livy: 'apache-livy',
  mssql: 'microsoft-mssql',
  pig: 'apache-pig',
  pinot: 'apache-pinot',
  psrp: 'microsoft-psrp',
  s3: 'amazon',
  spark: 'apache-spark',
  tinkerpop: 'apache-tinkerpop',
  webhdfs: 'apache-hdfs',
  winrm: 'microsoft-winrm',
};

const PLAIN_PACKAGES = new Set(['cloudpickle', 'pandas', 'polars', 's3fs', 'virtualenv']);

/** Parts of Airflow's own processes (and the executors, which the control plane stands in for): nothing to install. */
const OF_AIRFLOW_ITSELF =
  /^(all.*|devel.*|doc.*|aiobotocore|async|celery|cgroups|crypto|dask|deprecated-api|edge3?|fab|github-enterprise|google-auth|graphviz|gunicorn|kerberos|keycloak|ldap|leveldb|memray|otel|password|pydantic|rabbitmq|saml|sentry|standard|statsd|uv)$/;

/** The package an extra stands for; undefined when there is nothing to install. */
export function packageOfExtra(extra: string): string | undefined {
  const name = extra
    .trim()
    .toLowerCase()
    .replace(/[-_.]+/g, '-');
  if (name === '' || OF_AIRFLOW_ITSELF.test(name)) return undefined;
  return PLAIN_PACKAGES.has(name) ? name : PROVIDER + (RENAMED[name] ?? name);
}

/** What svc itself stands in for: never installed, whoever asks for it. */
export const STOOD_IN_FOR: ReadonlySet<string> = new Set([
  'apache-airflow',
  'apache-airflow-core',
  'apache-airflow-task-sdk',
  'apache-airflow-providers-standard',
]);
