/** Clients built on the SDK of the line before connect as they are. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { graphOf } from '@svc/testing/engine/scripted-scheduler.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MAIN, startToolServer } from '@svc/testing/mcp/connect.ts';
import { logLine, startFailedRuns } from '@svc/testing/mcp/failed-runs.ts';
import { PROGRAM_ARGUMENTS } from '@svc/testing/node-arguments.ts';
import type { FailedRuns } from '@svc/testing/mcp/failed-runs.ts';

let world: FailedRuns;
let tools: Awaited<ReturnType<typeof startToolServer>>;
let token: string;
let runId: string;
beforeAll(async () => {
  world = await startFailedRuns();
  tools = await startToolServer(world.server.url);
  token = await world.server.login();
  await world.register('etl', graphOf({ a: [], b: ['a'] }));
  ({ runId } = await world.run('etl', { a: { state: 'failed', log: logLine('boom', 'error') } }));
});
afterAll(async () => {
  await tools?.close();
  await world?.close();
});

const transports: Record<string, () => Transport> = {
  http: () =>
    new StreamableHTTPClientTransport(new URL(`${tools.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }) as Transport,
  stdio: () =>
    new StdioClientTransport({
      command: process.execPath,
      args: [...PROGRAM_ARGUMENTS, MAIN],
      env: { PATH: process.env['PATH'] ?? '', SVC_SERVER_URL: world.server.url, SVC_TOKEN: token },
      stderr: 'ignore',
    }),
};

it.each(['http', 'stdio'])('over %s: lists, calls and reads, with output that its schema allows', async (name) => {
  const client = new Client({ name: 'old', version: '1.0.0' });
  await client.connect(transports[name]?.() as Transport);
  const { tools: listed } = await client.listTools(); // from here on it checks results by their output schemas
  expect(listed.map((tool) => tool.name)).toEqual(['list_dags', 'diagnose_run', 'search_logs']);
  const answer = await client.callTool({ name: 'diagnose_run', arguments: { dag_id: 'etl', run_id: runId } });
  expect(answer.structuredContent).toMatchObject({ failures: [{ task_id: 'a' }] });
  const search = { dag_id: 'etl', run_id: runId, task_id: 'a', query: 'BOOM' };
  expect((await client.callTool({ name: 'search_logs', arguments: search })).structuredContent).toMatchObject({
    matches: [{ line_number: 1 }],
  });
  expect((await client.callTool({ name: 'list_dags', arguments: {} })).structuredContent).toMatchObject({ total: 1 });
  const { contents } = await client.readResource({ uri: `log://task/etl/${runId}/a/1` });
  expect(contents[0]).toMatchObject({ mimeType: 'text/plain', text: expect.stringContaining('boom') as string });
  await client.close();
});
