/** Tool servers for tests and official clients connected to them, of this protocol revision and of the one before. */
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createBearerCheck } from '@svc/mcp/control-plane/bearer-check.ts';
import { createLimit } from '@svc/mcp/control-plane/limit.ts';
import { createLog } from '@svc/mcp/log.ts';
import { createToolServer } from '@svc/mcp/tool-server.ts';
import { serveOverHttp } from '@svc/mcp/transports/http.ts';
import { PROGRAM_ARGUMENTS } from '../node-arguments.ts';
import { ROOT } from '../paths.ts';

export const MAIN = join(ROOT, 'packages', 'mcp', 'main.ts');

/** The tool server of `--transport http`, in this process, on a free port; its log lines are kept. */
export async function startToolServer(server: string, { requestsAtOnce = 32 }: { requestsAtOnce?: number } = {}) {
  const logLines: string[] = [];
  const log = createLog((line) => void logLines.push(line));
  const shared = {
    server,
    limit: createLimit(requestsAtOnce),
    heavy: createLimit(3),
    log,
    tokenSource: 'request' as const,
  };
  const http = await serveOverHttp({
    listen: { host: '127.0.0.1', port: 0, text: '127.0.0.1:0' },
    createServer: (token) => createToolServer({ ...shared, token }),
    checkBearer: createBearerCheck(shared),
    log,
  });
  return { ...http, logLines };
}

/** The newest revision of the protocol, and the newest that the official SDK speaks. */
export const NEWEST_REVISION = '2026-07-28';

/** `auto` asks for the current revision and falls back; `legacy` speaks the one before. */
export type Mode = 'auto' | 'legacy';

export async function connectHttp(url: string, token: string, mode: Mode = 'auto'): Promise<Client> {
  const client = new Client({ name: `test-${mode}`, version: '1.0.0' }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return client;
}

export async function connectStdio(env: Record<string, string>, mode: Mode = 'auto') {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...PROGRAM_ARGUMENTS, MAIN],
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stderr: 'pipe',
  });
  let stderr = '';
  (transport.stderr as Readable).on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const client = new Client({ name: `test-${mode}`, version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return { client, stderr: () => stderr };
}

export type ToolAnswer<T> = { text: string; structured: T; isError: boolean };

export async function callTool<T = Record<string, unknown>>(
  client: Pick<Client, 'callTool'>,
  name: string,
  input: Record<string, unknown>,
): Promise<ToolAnswer<T>> {
  // Machines that run tests are busy: a late answer is a slow one, not a wrong one.
  const answer = await client.callTool({ name, arguments: input }, { timeout: 170_000 });
  const [content] = answer.content as { type: string; text: string }[];
  return { text: content?.text ?? '', structured: answer.structuredContent as T, isError: answer.isError === true };
}

export async function readText(client: Client, uri: string): Promise<string> {
  const { contents } = await client.readResource({ uri });
  return contents.map((content) => ('text' in content ? content.text : '')).join('');
}

export const readJson = async <T>(client: Client, uri: string): Promise<T> =>
  JSON.parse(await readText(client, uri)) as T;
