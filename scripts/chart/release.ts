/** A release of the chart in the test cluster: installed, reached as users reach it, and looked at. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { createCompiler } from '@svc/compiler/compiler.ts';
import { VERSION } from '@svc/cli/version.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { REGISTRY, core } from '@svc/testing/kubernetes/cluster.ts';
import { BASE_REPOSITORY } from '@svc/testing/kubernetes/images.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { apiCaller, tokenOf } from '@svc/testing/server/api-caller.ts';
import type { Api } from '@svc/testing/server/api-caller.ts';
import { CHART, helm } from './helm.ts';
import type { Values } from './helm.ts';

/** A busy machine starts three control planes and a Postgres slowly. */
const WAIT = ['--wait', '--timeout', '7m'];

/** Images of the test registry, and as little as will do. */
const TEST_VALUES = {
  image: { repository: `${REGISTRY}/svc-control-plane`, tag: VERSION },
  postgres: { enabled: true, image: `${REGISTRY}/svc-postgres:15`, size: '64Mi' },
  api: { replicas: 1 },
  scheduler: { replicas: 1 },
};

const run = promisify(execFile);

/** The standard output. */
export const kubectl = async (...words: string[]): Promise<string> => (await run('kubectl', words)).stdout;

/** `change` says what the values have beside TEST_VALUES. */
export async function installRelease(
  verb: 'install' | 'upgrade',
  { name, namespace, change }: { name: string; namespace: string; change: Values },
): Promise<string> {
  const config = { ...(change['config'] as object), executor: { base_image_repository: BASE_REPOSITORY } };
  const values = { ...TEST_VALUES, ...change, config };
  try {
    return await helm([verb, name, CHART, '--namespace', namespace, ...WAIT], values);
  } catch (error) {
    const pods = await kubectl('describe', 'pods', '--namespace', namespace);
    const logs = await kubectl('logs', '--namespace', namespace, '--selector', `app.kubernetes.io/instance=${name}`, '--prefix', '--tail=30').catch(String); // prettier-ignore
    throw new Error(`${(error as Error).message}\n${pods.slice(-6_000)}\n${logs}`, { cause: error });
  }
}

/** A local port that leads to a service, as `kubectl port-forward` gives it. */
export async function forwardTo(namespace: string, service: string): Promise<Disposable & { url: string }> {
  const child = spawn('kubectl', ['port-forward', '--namespace', namespace, `service/${service}`, ':80'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const port = /127\.0\.0\.1:(\d+)/.exec(line)?.[1];
  return { url: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => void child.kill() };
}

export type Session = {
  api: Api;
  text(path: string): Promise<string>;
};

/** As the first admin, with the password that the notes tell to read. */
export async function logIn(url: string, { namespace, name }: { namespace: string; name: string }): Promise<Session> {
  const { data = {} } = await core.readNamespacedSecret({ namespace, name });
  const password = Buffer.from(data['SVC_AUTH_BOOTSTRAP_PASSWORD'] ?? '', 'base64').toString('utf8');
  const token = await tokenOf(url, { username: 'admin@example.com', password });
  const authorization = `Bearer ${token}`;
  return {
    api: apiCaller({ url }, token),
    async text(path) {
      const response = await fetch(`${url}/api/v2${path}`, { headers: { authorization, accept: 'text/plain' } });
      return response.text();
    },
  };
}

/** Compiles the text, registers its DAG and unpauses it. */
export async function addDag({ api }: Session, dagId: string, text: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-chart-'));
  const compiler = createCompiler({ python: await pythonEnvironment() });
  try {
    const path = join(folder, `${dagId}.py`);
    writeFileSync(path, text);
    const answer = await compiler.compile({ path, dagsFolder: folder });
    if (!answer.ok) throw new Error(answer.error.message);
    for (const dag of answer.dags) {
      await api('POST', `/dags/${dag.dag_id}/dagVersions`, { spec: dag.spec, fileloc: path });
      await api('PATCH', `/dags/${dag.dag_id}`, { is_paused: false });
    }
  } finally {
    await compiler.close();
    rmSync(folder, { recursive: true });
  }
}

export const trigger = async ({ api }: Session, dagId: string): Promise<string> =>
  (await api<{ dag_run_id: string }>('POST', `/dags/${dagId}/dagRuns`, {})).dag_run_id;

/** Its state, when it has ended. */
export function untilEnded({ api }: Session, dagId: string, runId: string): Promise<string> {
  return eventually(
    async () => {
      const path = `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}`;
      const { state } = await api<{ state: string }>('GET', path);
      return ['success', 'failed'].includes(state) && state;
    },
    { everyMs: 300, withinMs: 240_000 },
  );
}
