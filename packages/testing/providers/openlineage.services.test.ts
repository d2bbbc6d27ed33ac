/**
 * The OpenLineage provider as it is on the index: what tasks read and wrote is reported from their processes, by every transport, with
 * the configuration that it has on Airflow. Its environment is kept in .cache/openlineage.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { queryDatabase } from '../postgres/query-database.ts';
import { startScratchCluster } from '../postgres/scratch-cluster.ts';
import type { ScratchCluster } from '../postgres/scratch-cluster.ts';
import { startLiveServer } from '../server/live-server.ts';
import type { LiveServer } from '../server/live-server.ts';
import { openlineageEnvironment } from './environment.ts';

type Facets = Record<string, Record<string, unknown>>;
type Dataset = { namespace: string; name: string; facets?: Facets };
type Event = {
  eventType: string;
  run: { runId: string; facets: Facets };
  job: { namespace: string; name: string; facets: Facets };
  inputs: Dataset[];
  outputs: Dataset[];
};

const DAGS = readFileSync(join(import.meta.dirname, 'dags', 'lineage.py'), 'utf8');
const PASSWORD = 'pass-of-postgres-1815';
const folder = mkdtempSync(join(tmpdir(), 'svc-openlineage-'));
const file = join(folder, 'events.jsonl');
const received: Event[] = [];
let answers = true;
let collector: Server;
let cluster: ScratchCluster;
let live: LiveServer;
/** `seconds`: how long a report may hold up a task. */
let startServer: (seconds: number) => Promise<LiveServer>;
let address: string;
let databaseName: string;

beforeAll(async () => {
  const python = await openlineageEnvironment();
  collector = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (!answers) return;
      received.push(JSON.parse(Buffer.concat(parts).toString('utf8')) as Event);
      response.writeHead(201).end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const { port } = collector.address() as AddressInfo;
  const transports = {
    file: { type: 'file', log_file_path: file, append: true },
    console: { type: 'console' },
    http: {
      type: 'http',
      url: `http://127.0.0.1:${port}`,
      endpoint: 'api/v1/lineage',
      compression: null,
      timeout: 600,
    },
  };
  startServer = (seconds) =>
    startLiveServer({ python }, [], {
      AIRFLOW__OPENLINEAGE__TRANSPORT: JSON.stringify({ type: 'composite', transports }),
      AIRFLOW__OPENLINEAGE__NAMESPACE: 'svc-tests',
      AIRFLOW__OPENLINEAGE__EXECUTION_TIMEOUT: String(seconds),
    });
  live = await startServer(200); // a busy machine takes its time for each report
  cluster = await startScratchCluster();
  const url = await cluster.createDatabase();
  const { hostname, port: postgresPort, pathname } = new URL(url);
  address = `${hostname}:${postgresPort}`;
  databaseName = pathname.slice(1);
  await queryDatabase(url, 'create table orders (id integer, amount integer)');
  await queryDatabase(url, 'create table totals (amount integer)');
  await queryDatabase(url, `create role reporter superuser login password '${PASSWORD}'`);
  const login = { login: 'reporter', password: PASSWORD, schema: databaseName };
  const postgres = { conn_type: 'postgres', host: hostname, port: Number(postgresPort), ...login };
  await live.api('POST', '/connections', { connection_id: 'probe_postgres', ...postgres });
  await live.addDag('lineage', DAGS);
});
afterAll(async () => {
  await live?.close();
  await cluster?.remove();
  collector?.closeAllConnections();
  collector?.close();
  rmSync(folder, { recursive: true, force: true });
});

const run = async (dagId: string, server = live): Promise<{ runId: string; states: Record<string, string | null> }> => {
  const runId = await server.trigger(dagId);
  await server.ended(dagId, runId, 200);
  const states = (await server.instances(dagId, runId)).map((each) => [
    `${each.task_id}[${each.map_index}]`,
    each.state,
  ]);
  return { runId, states: Object.fromEntries(states) as Record<string, string | null> };
};
const of = (name: string, type: string): Event => {
  const event = received.find(({ job, eventType }) => job.name === `provider_lineage.${name}` && eventType === type);
  if (!event) throw new Error(`no ${type} of ${name}`);
  return event;
};
const named = (datasets: readonly Dataset[]): string[] => datasets.map(({ namespace, name }) => `${namespace} ${name}`);

describe('a run with the OpenLineage provider', () => {
  let runId: string;
  let states: Record<string, string | null>;
  beforeAll(async () => {
    ({ runId, states } = await run('provider_lineage'));
  });

  it('ends as it would without, and reports the start and the end of each of its tasks once', () => {
    expect(states).toEqual({
      'sql[-1]': 'success',
      'bash[-1]': 'success',
      'add[0]': 'success',
      'add[1]': 'success',
      'by_hook[-1]': 'success',
      'fails[-1]': 'failed',
    });
    const told = received
      .filter(({ job }) => job.name.startsWith('provider_lineage.') && !job.name.includes('.query.'))
      .map(({ job, eventType }) => `${job.name.replace('provider_lineage.', '')} ${eventType}`);
    expect(told.toSorted()).toEqual([
      'add COMPLETE',
      'add COMPLETE',
      'add START',
      'add START',
      'bash COMPLETE',
      'bash START',
      'by_hook COMPLETE',
      'by_hook START',
      'fails FAIL',
      'fails START',
      'sql COMPLETE',
      'sql START',
    ]);
    expect(new Set(received.map(({ job }) => job.namespace))).toEqual(new Set(['svc-tests']));
    expect(of('sql', 'START').run.runId).toBe(of('sql', 'COMPLETE').run.runId);
  });

  it('with what extractors find out, by the connection of the task: tables and their columns', () => {
    const { inputs, outputs, job } = of('sql', 'COMPLETE');
    const table = (name: string) => `postgres://${address} ${databaseName}.public.${name}`;
    expect([named(inputs), named(outputs)]).toEqual([[table('orders')], [table('totals')]]);
    expect(outputs[0]?.facets).toMatchObject({ schema: { fields: [{ name: 'amount', type: 'int4' }] } });
    expect(job.facets).toMatchObject({
      sql: { query: 'insert into totals select sum(amount) from orders' },
      jobType: { jobType: 'TASK', integration: 'AIRFLOW' },
    });
  });

  it('with inlets and outlets, and what hooks did in a function', () => {
    const { inputs, outputs } = of('bash', 'COMPLETE');
    expect([named(inputs), named(outputs)]).toEqual([
      ['file://127.0.0.1 /data/in.csv'],
      ['file://127.0.0.1 /data/out.csv'],
    ]);
    const query = of('by_hook.query.1', 'COMPLETE');
    expect(named(query.inputs)).toEqual([expect.stringMatching(/public\.totals$/)]);
    expect(query.run.facets).toMatchObject({ parent: { job: { name: 'provider_lineage.by_hook' } } });
  });

  it('with what the run and the task are, and why it failed', () => {
    const { run: told, job } = of('fails', 'FAIL');
    expect(told.facets).toMatchObject({
      errorMessage: { message: 'on purpose' },
      parent: { job: { namespace: 'svc-tests', name: 'provider_lineage' } },
      airflow: {
        dag: { dag_id: 'provider_lineage' },
        dagRun: { run_id: runId, run_type: 'manual' },
        task: { task_id: 'fails' },
        taskInstance: { try_number: 1 },
      },
      processing_engine: { name: 'Airflow', version: '3.2.2' },
    });
    expect(job.facets).toMatchObject({ documentation: { description: 'reports what it reads and writes' } });
    expect(of('add', 'START').job.facets).toMatchObject({ ownership: { owners: [{ name: 'ana' }] } });
  });

  it('and reports its own start and end, once each and in that order, with the states of its tasks', async () => {
    const ofRun = () => received.filter(({ job }) => job.name === 'provider_lineage');
    await eventually(async () => expect(ofRun().map(({ eventType }) => eventType)).toEqual(['START', 'FAIL']), {
      withinMs: 120_000,
    });
    const [begun, ended] = ofRun();
    expect(begun?.run.runId).toBe(ended?.run.runId);
    // The tasks name it as their parent.
    expect(of('sql', 'START').run.facets['parent']).toMatchObject({ run: { runId: begun?.run.runId } });
    expect(begun?.job.facets).toMatchObject({ jobType: { jobType: 'DAG' }, airflow: { tasks: { sql: {}, bash: {} } } });
    expect(ended?.run.facets).toMatchObject({
      airflowDagRun: { dag: { dag_id: 'provider_lineage' }, dagRun: { run_id: runId } },
      airflowState: { dagRunState: 'failed', tasksState: { sql: 'success', fails: 'failed' } },
      errorMessage: { message: 'task_failure' },
    });
  });

  it('by every transport, and without secrets', async () => {
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    const ids = (events: readonly Event[]) =>
      events.map(({ eventType, run: { runId: id } }) => `${id} ${eventType}`).toSorted();
    expect(ids(lines.map((line) => JSON.parse(line) as Event))).toEqual(ids(received));
    const path = `${live.url}/api/v2/dags/provider_lineage/dagRuns/${encodeURIComponent(runId)}/taskInstances/bash/logs/1`;
    const answer = await fetch(path, { headers: { authorization: `Bearer ${live.token}`, accept: 'text/plain' } });
    const log = await answer.text();
    expect(log).toMatch(/INFO - \{"eventTime": .*"eventType": "COMPLETE"/);
    expect(log).not.toMatch(/ERROR/);
    expect(JSON.stringify(of('bash', 'COMPLETE').job.facets['sourceCode'])).toContain('echo as reporter with ***');
    for (const text of [log, JSON.stringify(received), ...lines]) expect(text).not.toContain(PASSWORD);
  });
});

it('a collector that does not answer fails no task, and holds it up no longer than is configured', async () => {
  answers = false;
  const hasty = await startServer(4);
  try {
    await hasty.addDag('lineage', DAGS);
    // The transport itself would wait for longer than this test.
    expect((await run('provider_lineage_late', hasty)).states).toEqual({ 'one[-1]': 'success' });
  } finally {
    await hasty.close();
  }
});
