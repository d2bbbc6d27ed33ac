/** From a module that a file imports to the package on PyPI that brings it. */

/** Providers whose name has two parts. */
const TWO_PARTS = new Set(['apache', 'atlassian', 'cncf', 'common', 'dbt', 'microsoft']);

/** Modules whose package has another name. Dotted ones are looked up before the first name alone. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  'google.cloud.bigquery': 'google-cloud-bigquery',
  'google.cloud.storage': 'google-cloud-storage',
  'google.cloud.pubsub': 'google-cloud-pubsub',
  'google.cloud.secretmanager': 'google-cloud-secret-manager',
  'google.oauth2': 'google-auth',
  'google.auth': 'google-auth',
  'azure.storage.blob': 'azure-storage-blob',
  'azure.identity': 'azure-identity',
  'snowflake.connector': 'snowflake-connector-python',
  'snowflake.snowpark': 'snowflake-snowpark-python',
  'databricks.sdk': 'databricks-sdk',
  'ruamel.yaml': 'ruamel.yaml',
  airflow_client: 'apache-airflow-client',
  attr: 'attrs',
  bs4: 'beautifulsoup4',
  bson: 'pymongo',
  confluent_kafka: 'confluent-kafka',
  cosmos: 'astronomer-cosmos',
  Crypto: 'pycryptodome',
  cv2: 'opencv-python',
  dbt: 'dbt-core',
  docx: 'python-docx',
  dotenv: 'python-dotenv',
  fitz: 'PyMuPDF',
  git: 'GitPython',
  github: 'PyGithub',
  great_expectations_provider: 'airflow-provider-great-expectations',
  jose: 'python-jose',
  jwt: 'PyJWT',
  kafka: 'kafka-python',
  ldap: 'python-ldap',
  magic: 'python-magic',
  MySQLdb: 'mysqlclient',
  mysql: 'mysql-connector-python',
  OpenSSL: 'pyOpenSSL',
  PIL: 'Pillow',
  pkg_resources: 'setuptools',
  pptx: 'python-pptx',
  psycopg2: 'psycopg2-binary',
  serial: 'pyserial',
  skimage: 'scikit-image',
  sklearn: 'scikit-learn',
  slack: 'slackclient',
  telegram: 'python-telegram-bot',
  yaml: 'PyYAML',
};

export function packageOf(module: string): string {
  const parts = module.split('.');
  if (parts[0] === 'airflow' && parts[1] === 'providers') {
    const [name = '', more] = parts.slice(2);
    const words = TWO_PARTS.has(name) && more !== undefined ? [name, more] : [name];
    return `apache-airflow-providers-${words.join('-').replaceAll('_', '-')}`;
  }
  for (let length = parts.length; length > 0; length -= 1) {
    const known = OTHER_NAMES[parts.slice(0, length).join('.')];
    if (known !== undefined) return known;
  }
  return (parts[0] ?? module).replaceAll('_', '-');
}
