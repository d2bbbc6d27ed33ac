/**
 * Everything that example DAGs of provider packages find around them: servers on loopback, what lies in them, the connections and the
 * variables by which examples know them. The same for Airflow, where they are recorded, and here.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { queryDatabase } from '../postgres/query-database.ts';
import { startScratchCluster } from '../postgres/scratch-cluster.ts';
import { startDbtCloud } from '../providers/dbt-cloud.ts';
import { LOCAL_PASSWORD, LOCAL_USER, startLocalServers } from '../providers/local-servers.ts';
import { startGcs } from '../services/gcs.ts';
import { loopbackCertificate } from '../services/loopback-https.ts';
import { objectStoresEnvironment } from '../services/object-stores.ts';
import { startRedis } from '../services/redis.ts';
import { startS3 } from '../services/s3.ts';

export type Connection = {
  conn_type: string;
  host?: string;
  port?: number;
  login?: string;
  password?: string;
  schema?: string;
  /** JSON. */
  extra?: string;
};
export type ExampleServers = {
  connections: Record<string, Connection>;
  /** Of tasks, and of whoever loads the files. */
  env: Record<string, string>;
  /** Goes with them. */
  folder: string;
  stop(): Promise<void>;
};

/** `SYSTEM_TESTS_ENV_ID` of the examples: part of the names of everything they make. */
const ENV_ID = 'example';
const DBT_TOKEN = 'dbt-secret-1815';
const ANY_HOST_KEY = JSON.stringify({ no_host_key_check: true });

/** `python`: of the environment with the providers, which has the servers of files and mail, and a kernel for notebooks. */
export async function startExampleServers(python: string): Promise<ExampleServers> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-example-servers-'));
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    const certificate = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
    const { cert, key } = loopbackCertificate();
    writeFileSync(certificate.cert, cert);
    writeFileSync(certificate.key, key);
    const local = await startLocalServers(python, [certificate.cert, certificate.key]);
    ends.push(() => local.stop());
    const dbt = await startDbtCloud({ caFile: certificate.cert, token: DBT_TOKEN });
    ends.push(() => dbt.stop());
    const s3 = await startS3();
    ends.push(() => s3.stop());
    const gcs = await startGcs();
    ends.push(() => gcs.stop());
    const redis = await startRedis();
    ends.push(() => redis.close());
    const cluster = await startScratchCluster();
    ends.push(() => cluster.remove());
    const kernel = await startKernel(python);
    ends.push(() => kernel.stop());

    const database = await cluster.createDatabase();
    await queryDatabase(database, TABLES);
    redis.cli('SET', 'your_key', 'your value');
    ends.push(layFiles(local.folder));
    await layObjects(gcs.url);
    await fetch(`${s3.url}/moto-api/config`, { method: 'POST', body: NO_CONTAINERS });
    const prepare = join(import.meta.dirname, 'prepare_aws.py');
    const account = JSON.parse(
      execFileSync(await objectStoresEnvironment(), [prepare, s3.url], { encoding: 'utf8' }),
    ) as Record<string, string>;

    const login = { host: '127.0.0.1', login: LOCAL_USER, password: LOCAL_PASSWORD };
    const http = `http://127.0.0.1:${local.http}`;
    const postgres = postgresConnection(database);
    const ssh = { ...login, port: local.ssh, extra: ANY_HOST_KEY };
    const slackHook = { conn_type: 'slackwebhook', host: `${http}/slack/hook`, password: 'T0/B0/hook-secret-1815' };
    const slack = {
      conn_type: 'slack',
      password: 'xoxb-not-a-token-1815',
      extra: JSON.stringify({ base_url: `${http}/slack/api/` }),
    };
    return {
      connections: {
        airflow_db: postgres,
        aws_default: {
          conn_type: 'aws',
          login: 'test',
          password: 'test-secret-key',
          extra: JSON.stringify({ endpoint_url: s3.url, region_name: 'us-east-1' }),
        },
        dbt: { conn_type: 'dbt_cloud', host: dbt.host, login: '7', password: DBT_TOKEN },
        // Made by examples themselves where they can ask for one.
        [`${ENV_ID}-conn-id`]: { conn_type: 'http', host: 'localhost', port: 8083 },
        [`${ENV_ID}-http-conn-id`]: { conn_type: 'http', host: http },
        ftp_default: { conn_type: 'ftp', ...login, port: local.ftp },
        ftps_default: { conn_type: 'ftp', ...login, host: 'localhost', port: local.ftps ?? 0 },
        google_cloud_default: {
          conn_type: 'google_cloud_platform',
          extra: JSON.stringify({ is_anonymous: true, project: ENV_ID }),
        },
        http_default: { conn_type: 'http', host: http },
        jupyter_kernel_default: {
          conn_type: 'jupyter_kernel',
          host: 'localhost',
          extra: JSON.stringify({ shell_port: KERNEL_PORTS.shell }),
        },
        postgres_default: postgres,
        redis_default: { conn_type: 'redis', host: '127.0.0.1', port: redis.port, extra: JSON.stringify({ db: 0 }) },
        sales_db: postgres,
        sftp_default: { conn_type: 'sftp', ...ssh },
        slack_api_default: slack,
        slack_conn_id: slack,
        slack_default: slackHook,
        sqlite_default: { conn_type: 'sqlite', host: join(folder, 'sqlite.db') },
        ssh_default: { conn_type: 'ssh', ...ssh },
      },
      env: {
        SYSTEM_TESTS_ENV_ID: ENV_ID,
        SYSTEM_TESTS_GCP_PROJECT: ENV_ID,
        SYSTEM_TESTS_PROJECT_ID: ENV_ID,
        GCP_PROJECT_ID: ENV_ID,
        STORAGE_EMULATOR_HOST: gcs.url,
        AWS_ENDPOINT_URL: s3.url,
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test-secret-key',
        AWS_DEFAULT_REGION: 'us-east-1',
        // requests reads the one, Python's own TLS the other.
        REQUESTS_CA_BUNDLE: certificate.cert,
        SSL_CERT_FILE: certificate.cert,
        ...account,
      },
      folder,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function postgresConnection(url: string): Connection {
  const { hostname, port, username, password, pathname } = new URL(url);
  return {
    conn_type: 'postgres',
    host: hostname,
    port: Number(port),
    login: decodeURIComponent(username),
    password: decodeURIComponent(password),
    schema: pathname.slice(1),
  };
}

/** What examples of common.sql read: of Airflow's own database (`airflow_db`), and of one with sales of forty customers. */
const TABLES = `
  CREATE SCHEMA postgres;
  ALTER ROLE CURRENT_USER SET search_path = postgres, public;
  CREATE TABLE ab_role (id integer PRIMARY KEY, name text);
  INSERT INTO ab_role VALUES (1, 'Admin');
  CREATE TABLE ab_user (id integer PRIMARY KEY, username text);
  CREATE TABLE connection (id integer PRIMARY KEY, conn_id text);
  CREATE TABLE sales (id integer PRIMARY KEY, customer_id integer);
  INSERT INTO sales SELECT n, n % 40 FROM generate_series(1, 100) n;
`;

/** Functions of moto answer what they are sent; jobs of its Batch succeed. */
const NO_CONTAINERS = JSON.stringify({ lambda: { use_docker: false }, batch: { use_docker: false } });

const NOTEBOOK = JSON.stringify({
  cells: [],
  metadata: { kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' } },
  nbformat: 4,
  nbformat_minor: 5,
});

/** Files that examples take from `/tmp` of the machine and of the servers of files; gives back what removes those of the machine. */
function layFiles(served: string): () => void {
  for (const name of ['tmp', 'example-empty-directory']) mkdirSync(join(served, name), { mode: 0o777 });
  for (const name of ['ftp_path', 'sftp_path']) writeFileSync(join(served, 'tmp', name), 'a file of the server');
  const here = { '/tmp/filepath': 'a file to send', '/tmp/hello_world.ipynb': NOTEBOOK };
  for (const [path, text] of Object.entries(here)) writeFileSync(path, text);
  return () => {
    for (const path of Object.keys(here)) rmSync(path, { force: true });
  };
}

/** The bucket that examples of Google copy from. */
async function layObjects(url: string): Promise<void> {
  const bucket = 'airflow-system-tests-resources';
  const post = async (path: string, body: string, type: string): Promise<void> => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers: { 'content-type': type }, body });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  };
  await post('/storage/v1/b?project=example', JSON.stringify({ name: bucket }), 'application/json');
  for (const name of ['gcs/example_upload.txt'])
    await post(
      `/upload/storage/v1/b/${bucket}/o?uploadType=media&name=${encodeURIComponent(name)}`,
      'a file to copy',
      'text/plain',
    );
}

/**
 * A kernel that finds one of its ports taken ends, and is missed only when a notebook is run. The system also gives these
 * ports to outgoing connections, which hold them for a minute after their end.
 */
async function untilFree(port: number): Promise<void> {
  await eventually(
    async () => {
      const server = createServer().listen(port, '127.0.0.1');
      const [error] = (await Promise.race([once(server, 'listening'), once(server, 'error')])) as [Error?];
      if (error) throw new Error(`port ${port}, which the provider has for kernels, is taken: ${error.message}`);
      server.close();
      await once(server, 'close');
    },
    { withinMs: 120_000, everyMs: 1_000 },
  );
}

const KERNEL_PORTS = { shell: 60_316, iopub: 60_317, stdin: 60_318, control: 60_319, hb: 60_320 };

/** The Jupyter kernel that the examples' own tests start, on the ports that the provider has for it. */
async function startKernel(python: string): Promise<{ stop(): Promise<void> }> {
  await Promise.all(Object.values(KERNEL_PORTS).map(untilFree));
  const ports = Object.entries(KERNEL_PORTS).map(([name, port]) => `--${name}=${port}`);
  const child = spawn(python, ['-m', 'ipykernel', '--Session.key=b""', ...ports, '--ip=127.0.0.1'], {
    stdio: 'ignore',
  });
  return {
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}
