/**
 * Real provider packages, as they are on the index, without any package of Airflow itself: compiled and run by the product, against
 * real servers on loopback. Their environment is kept in .cache/providers.
 */
import { readFile } from 'node:fs/promises';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startScratchCluster } from '../postgres/scratch-cluster.ts';
import { startLiveServer } from '../server/live-server.ts';
import type { LiveServer } from '../server/live-server.ts';
import { startGcs } from '../services/gcs.ts';
import { startRedis } from '../services/redis.ts';
import { startS3 } from '../services/s3.ts';
import { DBT_ACCOUNT, startDbtCloud } from './dbt-cloud.ts';
import { providersEnvironment } from './environment.ts';
import { LOCAL_PASSWORD, LOCAL_USER, startLocalServers } from './local-servers.ts';

const AGENT = 'svc-provider-tests/1';
const DBT_TOKEN = 'dbt-secret-1815';
const ANY_HOST_KEY = JSON.stringify({ no_host_key_check: true });

let live: LiveServer;
let gcsUrl: string;
let local: Awaited<ReturnType<typeof startLocalServers>>;
let dbtCloud: Awaited<ReturnType<typeof startDbtCloud>>;
const folder = mkdtempSync(join(tmpdir(), 'svc-providers-'));
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const python = await providersEnvironment();
  local = await startLocalServers(python);
  const [s3, gcs, redis, cluster] = await Promise.all([startS3(), startGcs(), startRedis(), startScratchCluster()]);
  const caFile = join(folder, 'ca.pem');
  dbtCloud = await startDbtCloud({ caFile, token: DBT_TOKEN });
  // No container runtime here: functions of moto answer what they are sent.
  await fetch(`${s3.url}/moto-api/config`, { method: 'POST', body: JSON.stringify({ lambda: { use_docker: false } }) });
  const allFile = join(folder, 'all.pem');
  writeFileSync(allFile, [readFileSync(caFile, 'utf8'), ...tls.getCACertificates('system')].join('\n'));
  // As an operator gives tasks a private authority, beside those that others have: requests reads the one, Python's own TLS the other.
  const trust = { REQUESTS_CA_BUNDLE: allFile, SSL_CERT_FILE: allFile };
  live = await startLiveServer({ python, 'executor.http_user_agent': AGENT }, [], trust);
  ends.push(
    () => live.close(),
    () => dbtCloud.stop(),
    () => local.stop(),
    () => s3.stop(),
    () => gcs.stop(),
    () => redis.close(),
    () => cluster.remove(),
  );
  gcsUrl = gcs.url;
  const database = new URL(await cluster.createDatabase());
  const login = { host: '127.0.0.1', login: LOCAL_USER, password: LOCAL_PASSWORD };
  const http = `http://127.0.0.1:${local.http}`;
  const connections: Record<string, object> = {
    probe_sqlite: { conn_type: 'sqlite', host: join(folder, 'probe.db') },
    probe_postgres: {
      conn_type: 'postgres',
      host: database.hostname,
      port: Number(database.port),
      login: decodeURIComponent(database.username),
      password: decodeURIComponent(database.password),
      schema: database.pathname.slice(1),
    },
    probe_http: { conn_type: 'http', host: http },
    probe_ftp: { conn_type: 'ftp', ...login, port: local.ftp },
    probe_ssh: { conn_type: 'ssh', ...login, port: local.ssh, extra: ANY_HOST_KEY },
    probe_sftp: { conn_type: 'sftp', ...login, port: local.ssh, extra: ANY_HOST_KEY },
    probe_aws: {
      conn_type: 'aws',
      login: 'test',
      password: 'test-secret-key',
      extra: JSON.stringify({ endpoint_url: s3.url, region_name: 'us-east-1' }),
    },
    probe_google: {
      conn_type: 'google_cloud_platform',
      extra: JSON.stringify({ is_anonymous: true, project: 'probe' }),
    },
    probe_smtp: {
      conn_type: 'smtp',
      host: '127.0.0.1',
      port: local.smtp,
      extra: JSON.stringify({ disable_tls: true, disable_ssl: true }),
    },
    probe_slack: {
      conn_type: 'slack',
      password: 'xoxb-not-a-token-1815',
      extra: JSON.stringify({ base_url: `${http}/slack/api/` }),
    },
    probe_slack_hook: { conn_type: 'slackwebhook', host: `${http}/slack/hook`, password: 'T0/B0/hook-secret-1815' },
    probe_dbt_cloud: { conn_type: 'dbt_cloud', host: dbtCloud.host, login: DBT_ACCOUNT, password: DBT_TOKEN },
    probe_redis: { conn_type: 'redis', host: '127.0.0.1', port: redis.port, extra: JSON.stringify({ db: 0 }) },
  };
  for (const [id, connection] of Object.entries(connections))
    await live.api('POST', '/connections', { connection_id: id, ...connection });
});
afterAll(async () => {
  for (const end of ends) await end();
  rmSync(folder, { recursive: true, force: true });
});

/** States by task, after a run of the DAG in the file. */
async function run(file: string, dagId: string) {
  const text = await readFile(join(import.meta.dirname, 'dags', `${file}.py`), 'utf8');
  await live.addDag(file, text.replace('GCS_EMULATOR_URL', gcsUrl));
  const runId = await live.trigger(dagId);
  await live.ended(dagId, runId, 200);
  const instances = await live.instances(dagId, runId);
  const states = Object.fromEntries(instances.map((instance) => [instance.task_id, instance.state]));
  const path = `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances`;
  return {
    runId,
    states,
    value: async (taskId: string) =>
      (await live.api<{ value: unknown }>('GET', `${path}/${taskId}/xcomEntries/return_value`)).value,
    task: (taskId: string) => live.api<Record<string, unknown>>('GET', `${path}/${taskId}`),
    links: (taskId: string) => live.api<unknown>('GET', `${path}/${taskId}/links`),
    /** For the message of a test that fails. */
    log: async (taskId: string) => {
      const headers = { authorization: `Bearer ${live.token}`, accept: 'text/plain' };
      return (await fetch(`${live.url}/api/v2${path}/${taskId}/logs/1`, { headers })).text();
    },
  };
}

/** With the log of whatever did not end so. */
async function expectStates(found: Awaited<ReturnType<typeof run>>, wanted: Record<string, string>): Promise<void> {
  const wrong = Object.keys(wanted).filter((taskId) => found.states[taskId] !== wanted[taskId]);
  const logs = await Promise.all(wrong.map((taskId) => found.log(taskId).catch(() => '')));
  expect({ states: found.states, logs }).toEqual({ states: wanted, logs: [] });
}

const all = (state: string, ...tasks: string[]) => Object.fromEntries(tasks.map((task) => [task, state]));

it.each(['probe_sqlite', 'probe_postgres'])('common.sql with %s', async (connection) => {
  const found = await run('provider_sql', `provider_sql_${connection}`);
  const done = all('success', 'create', 'read', 'column', 'table', 'ready', 'choose', 'total');
  await expectStates(found, { ...done, other: 'skipped' });
  expect(await found.value('total')).toBe(3);
  expect(await found.task('read')).toMatchObject({
    rendered_fields: { sql: 'SELECT sum(a) FROM probe WHERE a <= 2', conn_id: connection },
  });
});

it('http, with the User-Agent of the configuration', async () => {
  const found = await run('provider_http', 'provider_http');
  await expectStates(found, { ...all('success', 'ask', 'wait', 'by_type'), missing: 'failed' });
  expect(await found.value('ask')).toBe(AGENT);
  const { requests } = await local.received();
  expect(requests.find(({ path }) => path.startsWith('/answers/'))).toMatchObject({
    method: 'POST',
    body: JSON.stringify({ question: found.runId }).replace(':', ': '),
  });
});

it('ftp, sftp and ssh', async () => {
  const found = await run('provider_files', 'provider_files');
  await expectStates(found, all('success', 'write', 'ftp', 'ftp_there', 'sftp', 'sftp_there', 'command', 'listed'));
  expect(await found.value('listed')).toEqual(['by-ftp.txt', 'by-sftp.txt']);
  const said = Buffer.from(String(await found.value('command')), 'base64').toString();
  expect(said).toBe('sent by a tasksent by a task');
});

it('amazon: S3, SQS and Secrets Manager', async () => {
  const found = await run('provider_amazon', 'provider_amazon');
  const tasks = ['bucket', 'put', 'there', 'listed', 'queue', 'publish', 'received', 'secret', 'read'];
  await expectStates(found, all('success', ...tasks));
  expect(await found.value('read')).toEqual(['from put']);
  expect(await found.value('listed')).toEqual([`runs/${found.runId}.txt`]);
});

it('amazon: Lambda', async () => {
  const found = await run('provider_lambda', 'provider_lambda');
  await expectStates(found, all('success', 'role', 'create', 'active', 'invoke'));
  expect(JSON.parse(String(await found.value('invoke')))).toEqual({ run: found.runId, from: 'invoke' });
});

it('ObjectStoragePath in S3, and the operator that transfers files', async () => {
  const found = await run('provider_storage', 'provider_storage');
  await expectStates(found, all('success', 'write', 'read', 'transfer', 'sent'));
  expect(await found.value('read')).toEqual({
    text: `run\n${found.runId}\n`,
    size: found.runId.length + 5,
    files: ['in/rows.csv', 'moved/rows.csv'],
    folders: ['in', 'moved'],
    local: ['rows.csv'],
    is: [true, true, true, false],
  });
  expect(await found.value('sent')).toEqual(['sent by the operator', false]);
});

it('dbt Cloud over https with a private authority: waited for, deferred, sensed, failed', async () => {
  const found = await run('provider_dbt_cloud', 'provider_dbt_cloud');
  const done = all('success', 'job', 'deferred', 'started', 'sensed', 'artifact', 'results');
  await expectStates(found, { ...done, broken: 'failed' });
  expect(JSON.parse(String(await found.value('results')))).toEqual({ results: ['run_results.json'] });
  const id = await found.value('job');
  expect(dbtCloud.runs.find((one) => one.id === id)).toMatchObject({ job: 1, cause: `run ${found.runId}` });
  expect(await found.links('job')).toMatchObject({ extra_links: { 'Monitor Job Run': `${dbtCloud.url}/runs/${id}` } });
});

it('functions go into other interpreters and come back, by the real dill and cloudpickle', async () => {
  const found = await run('provider_serializers', 'provider_serializers');
  const names = ['dill', 'cloudpickle'];
  const into = names.flatMap((name) => [`into_${name}`, `environment_${name}`]);
  await expectStates(found, all('success', ...into, ...names.map((name) => `out_of_${name}`), 'decorated'));
  for (const task of into) expect(await found.value(task)).toMatchObject({ answer: 42, step: 1 });
  for (const name of names) expect(await found.value(`out_of_${name}`)).toEqual({ double: 42 });
  expect(await found.value('decorated')).toBe(21);
}, 300_000);

it('papermill: a notebook with parameters, in a kernel of the environment', async () => {
  const found = await run('provider_papermill', 'provider_papermill');
  await expectStates(found, all('success', 'write', 'notebook', 'read'));
  expect(await found.value('read')).toEqual([`hello ${found.runId}\n`]);
});

it('google: Cloud Storage', async () => {
  const found = await run('provider_google', 'provider_google');
  await expectStates(found, all('success', 'write', 'put', 'there', 'read'));
  expect(await found.value('read')).toEqual(['sent to a bucket']);
});

it('smtp, slack and redis; notifiers as callbacks; links of an operator', async () => {
  const found = await run('provider_messages', 'provider_messages');
  const done = all('success', 'mail', 'slack', 'praised', 'publish', 'keep', 'there', 'board');
  await expectStates(found, { ...done, broken: 'failed' });
  const { mails, requests } = await local.received();
  expect(mails.map(({ to }) => to).toSorted()).toEqual([['ada@example.org'], ['on-call@example.org']]);
  expect(mails.find(({ to }) => to.includes('on-call@example.org'))?.text).toContain('Subject: broken failed');
  expect(requests.find(({ path }) => path.startsWith('/slack/hook'))?.body).toContain(`run ${found.runId} said hello`);
  expect(requests.find(({ path }) => path.startsWith('/slack/api/chat.postMessage'))?.body).toContain('praised');
  expect(await found.links('board')).toEqual({
    extra_links: { Board: `https://boards.example.org/7/${found.runId}` },
    total_entries: 1,
  });
});

it('numpy, pandas and pyarrow, loaded once for all attempts of a version', async () => {
  const values = [];
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const found = await run('libraries', 'libraries');
    await expectStates(found, { use: 'success' });
    values.push((await found.value('use')) as { loaded_by: number; drawn: number });
  }
  const [first, second] = values;
  expect(first).toMatchObject({ product: 400 ** 3, sums: { x: 4, y: 2 }, rows: 1000 });
  expect(second).toEqual({ ...first, drawn: expect.any(Number) });
  expect(second?.drawn).not.toBe(first?.drawn);
});

it('the API knows the providers that ran, and the form of connections their types', async () => {
  const { providers } = await live.api<{ providers: { package_name: string }[] }>('GET', '/providers?limit=100');
  const names = providers.map(({ package_name: name }) => name.replace('apache-airflow-providers-', ''));
  expect(names).toEqual(expect.arrayContaining(['amazon', 'common-sql', 'ftp', 'google', 'http', 'sftp', 'slack']));
  const answer = await fetch(`${live.url}/ui/connections/hook_meta`, {
    headers: { authorization: `Bearer ${live.token}` },
  });
  const forms = (await answer.json()) as { connection_type: string; hook_name: string }[];
  // A type that only the provider's own metadata names.
  expect(forms.map((form) => form.connection_type)).toEqual(expect.arrayContaining(['jupyter_kernel', 'chime']));
});
