/** Extras of `apache-airflow` and the package of each. Most have the name of their provider. */

const PROVIDER = 'apache-airflow-providers-';

/** Old names, and short names of products whose provider has a longer name. */
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

/** Extras of Airflow's own processes and executors. The control plane replaces these, so nothing is installed. */
const OF_AIRFLOW_ITSELF =
  /^(all.*|devel.*|doc.*|aiobotocore|async|celery|cgroups|crypto|dask|deprecated-api|edge3?|fab|github-enterprise|google-auth|graphviz|gunicorn|kerberos|keycloak|ldap|leveldb|memray|otel|password|pydantic|rabbitmq|saml|sentry|standard|statsd|uv)$/;

/** Returns the package of an extra, or undefined if there is nothing to install. */
export function packageOfExtra(extra: string): string | undefined {
  const name = extra
    .trim()
    .toLowerCase()
    .replace(/[-_.]+/g, '-');
  if (name === '' || OF_AIRFLOW_ITSELF.test(name)) return undefined;
  return PLAIN_PACKAGES.has(name) ? name : PROVIDER + (RENAMED[name] ?? name);
}

/** Packages that svc itself replaces. They are never installed, whatever requires them. */
export const STOOD_IN_FOR: ReadonlySet<string> = new Set([
  'apache-airflow',
  'apache-airflow-core',
  'apache-airflow-task-sdk',
  'apache-airflow-providers-standard',
]);
