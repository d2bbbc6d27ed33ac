/** A control plane that syncs bundles from folders and repositories on this machine. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { pythonEnvironment } from '../python-environment.ts';
import { startTestServer } from './test-server.ts';
import type { Answer, TestServer } from './test-server.ts';

export type SyncedBundle = {
  name: string;
  current: { deployment: number; version: string; author: string; message: string; url: string | null } | null;
  sync: {
    state: string;
    text: string;
    requested: number;
    answered: number;
    version: string | null;
    problems: { file: string; line: number | null; message: string }[];
  };
};

export type BundleServer = TestServer & {
  token: string;
  /** The folder with everything that a sync keeps. */
  cache: string;
  send(method: string, path: string, body?: object): Promise<Answer>;
  /** The body of an answer below /api/v2, which must be a success. */
  api<T>(method: string, path: string, body?: object): Promise<T>;
  addBundle(name: string, url: string, settings?: object): Promise<SyncedBundle>;
  /** Asks for a sync and waits for its end. */
  sync(name: string): Promise<SyncedBundle>;
  /** Waits until everything that was asked for has been answered. */
  settled(name: string): Promise<SyncedBundle>;
  /** By id, the version of each DAG that is not stale. */
  dags(): Promise<Record<string, number>>;
};

export async function startBundleServer(flags: Record<string, string | string[]> = {}): Promise<BundleServer> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bundles-'));
  const before = { python: process.env['SVC_PYTHON'], cache: process.env['XDG_CACHE_HOME'] };
  process.env['SVC_PYTHON'] = await pythonEnvironment();
  process.env['XDG_CACHE_HOME'] = join(folder, 'cache');
  const cache = join(folder, 'bundles');
  const server = await startTestServer({
    'bundles.executor': 'local',
    'bundles.cache-dir': cache,
    'bundles.allowed-paths': [tmpdir()],
    ...flags,
  });
  const token = await server.login();

  const send = (method: string, path: string, body?: object): Promise<Answer> =>
    server.call(`/api/v2${path}`, { method, token, ...(body && { body }) });

  async function api<T>(method: string, path: string, body?: object): Promise<T> {
    const answer = await send(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.text === '' ? (undefined as T) : answer.json<T>();
  }

  const settled = (name: string): Promise<SyncedBundle> =>
    eventually(async () => {
      const bundle = await api<SyncedBundle>('GET', `/bundles/${name}`);
      return bundle.sync.answered >= bundle.sync.requested && bundle.sync.state !== 'running' && bundle;
    });

  return {
    ...server,
    token,
    cache,
    send,
    api,
    settled,
    async addBundle(name, url, settings = {}) {
      const kind = url.endsWith('.git') ? 'git' : 'folder';
      await api('POST', '/bundles', { name, kind, url, poll_seconds: 0, ...settings });
      return settled(name);
    },
    async sync(name) {
      await api('POST', `/bundles/${name}/sync`);
      return settled(name);
    },
    async dags() {
      const { dags } = await api<{ dags: { dag_id: string }[] }>('GET', '/dags?limit=1000');
      const versions = await Promise.all(
        dags.map(async ({ dag_id: id }) => {
          const found = await api<{ dag_versions: { version_number: number }[] }>(
            'GET',
            `/dags/${id}/dagVersions?limit=1`,
          );
          return [id, found.dag_versions[0]?.version_number ?? 0] as const;
        }),
      );
      return Object.fromEntries(versions);
    },
    async close() {
      await server.close();
      restore('SVC_PYTHON', before.python);
      restore('XDG_CACHE_HOME', before.cache);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
