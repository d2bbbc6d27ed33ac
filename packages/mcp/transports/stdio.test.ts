import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { graphOf } from '@svc/testing/engine/scripted-scheduler.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAIN, NEWEST_REVISION, callTool, connectStdio, readJson } from '@svc/testing/mcp/connect.ts';
import { logLine, startFailedRuns } from '@svc/testing/mcp/failed-runs.ts';
import type { FailedRuns } from '@svc/testing/mcp/failed-runs.ts';
import { PROGRAM_ARGUMENTS } from '@svc/testing/node-arguments.ts';
import { VERSION } from '../version.ts';

let world: FailedRuns;
let env: Record<string, string>;
let runId: string;
beforeAll(async () => {
  world = await startFailedRuns();
  env = { SVC_SERVER_URL: world.server.url, SVC_TOKEN: await world.server.login() };
  await world.register('etl', graphOf({ a: [], b: ['a'] }));
  ({ runId } = await world.run('etl', { a: { state: 'failed', log: logLine('boom\u001b[31m', 'error') } }));
});
afterAll(() => world?.close());

/** The process with raw pipes: what it writes is looked at as bytes, not through a client that might forgive. */
function start(args: readonly string[] = PROGRAM_ARGUMENTS, more: Record<string, string> = {}) {
  const child = spawn(process.execPath, [...args, MAIN], { env: { PATH: process.env['PATH'], ...env, ...more } });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  const closed = once(child, 'close') as Promise<[number | null]>;
  return { child, output, closed };
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'init',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
const call = (id: number, name: string, input: object) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: input },
});
const lines = (messages: readonly unknown[]): string =>
  messages.map((message) => `${typeof message === 'string' ? message : JSON.stringify(message)}\n`).join('');

describe.each(['auto', 'legacy'] as const)('an official client that negotiates %s', (mode) => {
  it('calls tools, reads resources, and the process ends with it', async () => {
    const { client, stderr } = await connectStdio(env, mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(mode === 'auto' ? NEWEST_REVISION : '2025-11-25');
    const { tools } = await client.listTools();
    expect(tools.map((tool) => [tool.name, tool.annotations?.readOnlyHint, tool.outputSchema !== undefined])).toEqual([
      ['list_dags', true, true],
      ['diagnose_run', true, true],
      ['search_logs', true, true],
    ]);
    const { structured } = await callTool(client, 'diagnose_run', { dag_id: 'etl', run_id: runId });
    expect(structured).toMatchObject({ state: 'failed', failures: [{ task_id: 'a', blocks: { task_ids: ['b'] } }] });
    expect(await readJson(client, `run://detail/etl/${runId}`)).toMatchObject({ state: 'failed' });
    await client.close();
    await eventually(() => expect(stderr()).toContain('"what":"diagnose_run"'));
    expect(stderr()).not.toContain(env['SVC_TOKEN'] ?? 'no token');
  });
});

it('a bearer that the control plane does not take is told in every answer: there is no status to tell it', async () => {
  const { client } = await connectStdio({ ...env, SVC_TOKEN: 'abc.def.ghi' });
  const { isError, text } = await callTool(client, 'list_dags', {});
  expect([isError, text]).toEqual([true, expect.stringContaining('not authenticated')]);
  await expect(readJson(client, 'dag://list')).rejects.toThrow('not authenticated');
  await client.close();
});

it('only protocol goes to standard output, under load and whatever else prints', async () => {
  const noise = 'const first = console; setInterval(() => console !== first && console.log("noise"), 1);';
  const { child, output, closed } = start(['--import', `data:text/javascript,${encodeURIComponent(noise)}`]);
  const requests = Array.from({ length: 300 }, (_, n) => {
    const kinds = [
      call(n, 'list_dags', {}),
      call(n, 'diagnose_run', { dag_id: 'etl', run_id: runId }),
      call(n, 'search_logs', { dag_id: 'etl', run_id: runId, task_id: 'a', query: 'boom' }),
      call(n, 'list_dags', { limit: 1_000 }),
      call(n, 'no_such_tool', {}),
      { jsonrpc: '2.0', id: n, method: 'resources/read', params: { uri: 'dag://source/etl' } },
      { jsonrpc: '2.0', id: n, method: 'no/such/method' },
    ];
    return kinds[n % kinds.length];
  });
  child.stdin.end(
    lines([
      INITIALIZE,
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      ...requests,
      '{"broken',
      'not json',
      '',
    ]),
  );
  expect((await closed)[0]).toBe(0);
  const answers = output.stdout.split('\n');
  expect(answers.pop()).toBe('');
  const ids = answers.map((line) => {
    const message = JSON.parse(line) as { jsonrpc: string; id: string | number };
    expect(message.jsonrpc).toBe('2.0');
    return message.id;
  });
  // The input has ended long before: every request is answered all the same, once.
  expect(ids.map(String).sort()).toEqual(['init', ...requests.map((_, n) => String(n))].sort());
  expect(output.stderr).toContain('noise');
});

it('ends when the client has gone, also in the middle of an answer', async () => {
  const { child, closed } = start();
  child.stdin.write(lines([INITIALIZE]));
  for await (const line of createInterface({ input: child.stdout })) if (line.includes('"init"')) break;
  child.stdin.write(lines([call(1, 'diagnose_run', { dag_id: 'etl', run_id: runId })]));
  child.stdout.destroy();
  child.stdin.end();
  expect((await closed)[0]).toBe(0);
});

it('ends although a call was cancelled and a subscription is open: neither is ever answered', async () => {
  const cancelled = start();
  cancelled.child.stdin.end(
    lines([
      INITIALIZE,
      call(1, 'diagnose_run', { dag_id: 'etl', run_id: runId }),
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      call(2, 'list_dags', {}),
    ]),
  );
  expect((await cancelled.closed)[0]).toBe(0);
  expect(cancelled.output.stdout).toContain('"id":2');

  const listening = start();
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const listen = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { _meta: meta, notifications: {} } };
  listening.child.stdin.end(lines([listen, { jsonrpc: '2.0', id: 2, method: 'tools/list', params: { _meta: meta } }]));
  expect((await listening.closed)[0]).toBe(0);
  expect(listening.output.stdout).toContain('"diagnose_run"');
});

it('answers a request whose arguments are nested 100,000 deep with an error, and serves the next one', async () => {
  const { child, output, closed } = start();
  const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_dags","arguments":{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}}}`;
  child.stdin.end(lines([INITIALIZE, deep, '['.repeat(100_000), call(2, 'list_dags', {})]));
  expect((await closed)[0]).toBe(0);
  const answers = output.stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>); // prettier-ignore
  const answerOf = (id: number) => answers.filter((answer) => answer['id'] === id);
  expect(answerOf(1)).toEqual([
    { jsonrpc: '2.0', id: 1, error: { code: -32_600, message: 'a message must not be nested deeper than 100 levels' } },
  ]);
  expect(answerOf(2)).toEqual([expect.objectContaining({ result: expect.anything() as unknown })]);
});

it('starts without a token, and says what is missing when it is needed', async () => {
  const { child, output, closed } = start(PROGRAM_ARGUMENTS, { SVC_TOKEN: '' });
  child.stdin.end(lines([INITIALIZE, call(1, 'list_dags', {})]));
  await closed;
  expect(output.stderr).toContain('SVC_TOKEN is not set');
  expect(output.stdout).toContain('not authenticated: SVC_TOKEN is not set');
});

it('--version prints the version and exits', async () => {
  const child = spawn(process.execPath, [...PROGRAM_ARGUMENTS, MAIN, '--version']);
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  expect([code, stdout]).toEqual([0, `${VERSION}\n`]);
});
