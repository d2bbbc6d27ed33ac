/**
 * Two control planes with their agents on one Postgres, for tormenting: every part can be killed, and comes back where it was.
 * Or two schedulers and two api processes, each role with its own identity.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCompiler } from '@svc/compiler/compiler.ts';
import { pythonEnvironment } from '../python-environment.ts';
import { createIdentities } from '../postgres/database-identities.ts';
import { startScratchCluster } from '../postgres/scratch-cluster.ts';
import type { ScratchCluster } from '../postgres/scratch-cluster.ts';
import { PROCESS_ADMIN, startServerProcess } from '../server/server-process.ts';
import type { ServerProcess } from '../server/server-process.ts';
import { freePort } from '../services/free-port.ts';
import { CHAOS_POOL, POOL_SLOTS, chaosDags } from './runs-dags.ts';
import { recordTransitions } from './record-transitions.ts';
import { findVictims, killProcess } from './runs-processes.ts';
import { startProxy } from './runs-proxy.ts';
import type { AnswerDroppingProxy } from './runs-proxy.ts';

export type ControlPlane = {
  /** Stays the same over restarts. */
  readonly url: string;
  readonly proxy: AnswerDroppingProxy;
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** How it ended although nobody killed it; null while it has not. */
  ended(): string | null;
  /** How often it was killed. */
  kills(): number;
};

export type Plant = {
  readonly cluster: ScratchCluster;
  readonly databaseUrl: string;
  readonly directory: string;
  readonly logsDir: string;
  readonly effectsFile: string;
  /** Those that have agents. */
  readonly controlPlanes: readonly ControlPlane[];
  /** Those that serve the API: the same, unless roles are split. */
  readonly doors: readonly ControlPlane[];
  readonly processes: readonly ControlPlane[];
  token: string;
  /** Ends everything with the word it is meant to end with; says what did not. */
  stop(): Promise<string[]>;
  remove(): Promise<void>;
};

export type PlantOptions = {
  /** `split`: two schedulers and two api processes. */
  roles?: 'all' | 'split';
  /** `scheduler.attempt_lease`. */
  leaseSeconds: number;
  /** Of Postgres. */
  settings?: Record<string, string>;
  /** Leaves logs and effects where they are, to be looked at. */
  keep?: boolean;
};

const OF_EACH = 2;

export async function buildPlant(input: PlantOptions): Promise<Plant> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-chaos-runs-'));
  await mkdir(join(directory, 'locks'));
  await mkdir(join(directory, 'dags'));
  const python = await pythonEnvironment();
  const cluster = await startScratchCluster(input.settings);
  const databaseUrl = await cluster.createMigratedDatabase();
  const logsDir = join(directory, 'logs');
  const [controlPlanes, doors]: [RestartableControlPlane[], RestartableControlPlane[]] = [[], []];
  const processes = (): RestartableControlPlane[] => [...new Set([...controlPlanes, ...doors])];
  const isSplit = input.roles === 'split';
  const remove = async (): Promise<void> => {
    for (const each of processes()) {
      await each.kill();
      each.proxy.close();
    }
    const { agents } = await findVictims(controlPlanes.map(({ proxy }) => proxy.address));
    agents.forEach(killProcess); // those of killed servers would go on for minutes
    await cluster.remove();
    if (input.keep !== true) await rm(directory, { recursive: true, force: true });
  };
  try {
    const identities = isSplit ? await createIdentities(databaseUrl) : undefined;
    const settings = {
      'database.url': identities?.scheduler ?? databaseUrl,
      'executor.type': 'subprocess',
      'executor.parallelism': '12',
      'scheduler.attempt_lease': `${input.leaseSeconds}s`,
      'logs.dir': logsDir,
      python,
      ...(isSplit && { 'server.role': 'scheduler' }),
    };
    for (let number = 0; number < OF_EACH; number += 1) {
      // The agents of every second one have the line to it, those of the others come through a proxy, which loses answers.
      const way = number % 2 === 1 ? 'line' : 'proxy';
      controlPlanes.push(await startControlPlane(settings, join(directory, `server-${number}.log`), way));
    }
    if (identities) {
      const ofApi = { ...settings, 'server.role': 'api', 'database.url': identities.api };
      for (let number = 0; number < OF_EACH; number += 1) {
        doors.push(await startControlPlane(ofApi, join(directory, `api-${number}.log`)));
      }
    } else doors.push(...controlPlanes);
    const token = await logIn(doors[0]?.url ?? '');
    await recordTransitions(databaseUrl);
    await giveDags({ python, directory, url: doors[0]?.url ?? '', token });
    return {
      cluster,
      databaseUrl,
      directory,
      logsDir,
      effectsFile: join(directory, 'effects'),
      controlPlanes,
      doors,
      processes: processes(),
      token,
      stop: async () => (await Promise.all(processes().map((each) => each.stop()))).flat(),
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

type RestartableControlPlane = ControlPlane & { stop(): Promise<string[]> };

async function startControlPlane(
  settings: Record<string, string>,
  logFile: string,
  way: 'proxy' | 'line' = 'proxy',
): Promise<RestartableControlPlane> {
  // Agents must find the next life of their control plane where the last one was.
  const [httpPort, grpcPort] = [await freePort(), await freePort()];
  const proxy = await startProxy(grpcPort);
  let server: ServerProcess | undefined;
  let runs = 0;
  let kills = 0;
  const start = async (): Promise<void> => {
    runs += 1;
    server = await startServerProcess({
      settings: {
        ...settings,
        'server.http_addr': `127.0.0.1:${httpPort}`,
        'server.grpc_addr': `127.0.0.1:${grpcPort}`,
        ...(way === 'proxy' && { 'executor.agent_control_plane_addr': proxy.address }),
      },
      // One for each life: the line that says where it listens is looked for from the beginning.
      logFile: `${logFile}.${runs}`,
    });
  };
  await start();
  await server?.untilReady();
  return {
    url: `http://127.0.0.1:${httpPort}`,
    proxy,
    kills: () => kills,
    async kill() {
      kills += 1;
      await server?.stop('SIGKILL');
    },
    restart: () => start().catch(start), // a busy machine may need longer than a start is waited for
    ended: () => {
      const how = server?.exited() ?? null;
      return how === null ? null : `${how}: ${server?.logLines().slice(-5).join('\n')}`;
    },
    async stop() {
      const how = await server?.stop('SIGTERM');
      return how === 0 ? [] : [`a server ended with ${how} when it was asked to stop`];
    },
  };
}

async function logIn(url: string): Promise<string> {
  const response = await fetch(`${url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: PROCESS_ADMIN.email, password: PROCESS_ADMIN.password }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

async function giveDags(input: { python: string; directory: string; url: string; token: string }): Promise<void> {
  const { python, directory, url, token } = input;
  const dagsFolder = join(directory, 'dags');
  const path = join(dagsFolder, 'chaos.py');
  await writeFile(path, chaosDags(directory));
  const compiler = createCompiler({ python });
  const answer = await compiler.compile({ path, dagsFolder }).finally(() => compiler.close());
  if (!answer.ok) throw new Error(answer.error.message);
  const send = async (method: string, place: string, body: object): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}/api/v2${place}`, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${place}: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  };
  await send('POST', '/pools', { name: CHAOS_POOL, slots: POOL_SLOTS });
  for (const dag of answer.dags) {
    await send('POST', `/dags/${dag.dag_id}/dagVersions`, { spec: dag.spec, fileloc: path });
    await send('PATCH', `/dags/${dag.dag_id}`, { is_paused: false });
  }
}
