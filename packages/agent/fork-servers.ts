/**
 * The Python server processes of this worker: one per DAG version and environment, started when an attempt needs it,
 * and kept while it is used. Servers that were idle for long are ended. If there are too many, the longest idle one is
 * ended.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { AskForTree, CodeTrees } from './code-trees.ts';
import type { ReceivedVersion } from '@svc/proto/agent-service.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import type { PythonEnvironments } from './environments.ts';
import { LoadFailure, startForkServer } from './fork-server.ts';
import type { ForkServer, Isolation } from './fork-server.ts';
import { pythonProcessEnvironment } from './settings.ts';
import { createSpareProcesses } from './spare-process.ts';
import type { TaskSockets } from './task-sockets.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export type LoadedServer = {
  server: ForkServer;
  /**
   * Lines for the log of each attempt, about modules of the project that have changed since the version was registered.
   */
  notes: readonly string[];
};

/** `tree`: as the job names it. */
export type RunCode = { tree: string; ask: AskForTree };

/** Call it once for each server that `get` returned, when the attempt's process is over. */
export type Release = () => void;

export type ForkServers = {
  /**
   * Returns a server that is ready to fork. Rejects with a `LoadFailure` or an `EnvironmentFailure`. `code`: the files
   * of the run. Without it, the version is loaded from the files of this machine.
   */
  get(version: ReceivedVersion, code?: RunCode): Promise<LoadedServer & { release: Release }>;
  /** Stops forks from this server. It ends with its last attempt. */
  retire(server: ForkServer): void;
  close(): Promise<void>;
};

/** A lean server takes about 30 MB. */
const MAX_IDLE = 8;
const MAX_IDLE_MS = 10 * 60_000;
const SWEEP_MS = 30_000;

type Entry = {
  loading: Promise<LoadedServer>;
  server: ForkServer | undefined;
  users: number;
  usedAt: number;
  isRetired?: boolean;
};

export function createForkServers(input: {
  environments: PythonEnvironments;
  sockets: TaskSockets;
  trees: CodeTrees;
  env: Environment;
  /** Variables that mark this worker's processes. */
  marks: Readonly<Record<string, string>>;
  user?: TaskUser | undefined;
  /** True when there will be only one attempt. */
  isForOne?: boolean | undefined;
  /**
   * True when it shares no disk with the control plane. Everything that is not in the version must then be on this
   * host.
   */
  isRemote?: boolean | undefined;
  /** A server that is started already, for the first version. */
  first?: ForkServer | undefined;
  /** Provides the isolation of each server. */
  isolation?: { next(): Isolation; ended(isolation: Isolation): void };
  /** Called with what attempts leave behind, and in which server. */
  onUnclean?: (reason: string, server: ForkServer) => void;
}): ForkServers {
  const { environments, sockets, trees, marks, user, isForOne, isolation } = input;
  let { first } = input;
  const entries = new Map<string, Entry>();
  const retired = new Set<ForkServer>();
  const processEnv = { ...pythonProcessEnvironment(input.env, user), ...marks };

  /** Returns the first server, unless the version needs another interpreter. */
  function takeFirst(python: string): ForkServer | undefined {
    const server = first;
    first = undefined;
    if (server?.python === python) return server;
    server?.close();
    return undefined;
  }

  function start(python: string): ForkServer {
    const spares = isForOne ? undefined : createSpareProcesses(sockets);
    return startForkServer({ python, env: processEnv, user, isForOne }, spares);
  }

  async function load(
    version: ReceivedVersion,
    code: RunCode | undefined,
    onStarted: (server: ForkServer) => void,
  ): Promise<LoadedServer> {
    const fetched = code && trees.get(code.tree, code.ask);
    fetched?.catch(() => {}); // awaited below
    const python = await environments.get(version.dependencies);
    const folder = (await fetched) ?? folderOf(version, input.env);
    if (input.isRemote) refuseMissingModules(folder, version);
    const server = takeFirst(python) ?? start(python);
    onStarted(server);
    server.onUnclean((reason) => input.onUnclean?.(reason, server));
    const isolated = isolation?.next() ?? {};
    void server.ended.then(() => isolation?.ended(isolated));
    server.load({
      ...isolated,
      socket: sockets.path,
      dags_folder: folder,
      dag_id: version.python_dag_id,
      fileloc: locationOf(folder, version.source_path),
      source: {
        path: version.source_path,
        module: version.source_module,
        text: version.source_text,
        files: version.files,
      },
      bundle: version.bundle,
      env: version.env,
    });
    const [notes] = await Promise.all([changedModules(folder, version), server.ready]);
    return { server, notes };
  }

  function open(version: ReceivedVersion, code: RunCode | undefined): Entry {
    const key = keyOf(version, code);
    const loading = load(version, code, (server) => {
      entry.server = server;
      void server.ended.then(() => entries.get(key) === entry && entries.delete(key));
    });
    const entry: Entry = { loading, server: undefined, users: 0, usedAt: Date.now() };
    entries.set(key, entry);
    entry.loading.catch(() => {
      // The next attempt tries again, because what was missing may exist by then.
      if (entries.get(key) === entry) entries.delete(key);
      entry.server?.close();
    });
    return entry;
  }

  function sweep(): void {
    const idle = [...entries].filter(([, entry]) => entry.users === 0).sort(([, a], [, b]) => a.usedAt - b.usedAt);
    for (const [index, [key, entry]] of idle.entries()) {
      if (index >= idle.length - MAX_IDLE && Date.now() - entry.usedAt < MAX_IDLE_MS) continue;
      entries.delete(key);
      entry.server?.close();
    }
  }
  const timer = setInterval(sweep, SWEEP_MS);
  timer.unref();

  return {
    async get(version, code) {
      const known = entries.get(keyOf(version, code));
      const entry = known ?? open(version, code);
      entry.users += 1;
      const release = (): void => {
        entry.users -= 1;
        entry.usedAt = Date.now();
        if (entry.isRetired && entry.users === 0) entry.server?.close();
        sweep();
      };
      return entry.loading.then(
        (loaded) => ({ ...loaded, release }),
        (error: unknown) => {
          release();
          // The attempt that asked for the files may have ended since.
          if (known && code) return this.get(version, code);
          throw error;
        },
      );
    },
    retire(server) {
      const [key, entry] = [...entries].find(([, { server: own }]) => own === server) ?? [];
      if (key === undefined || !entry) return;
      entries.delete(key);
      entry.isRetired = true;
      retired.add(server);
      void server.ended.then(() => retired.delete(server));
      if (entry.users === 0) server.close();
    },
    async close() {
      clearInterval(timer);
      const known = [...[...entries.values()].map(({ server }) => server), ...retired, first];
      const servers = known.flatMap((server) => server ?? []);
      entries.clear();
      for (const server of servers) server.close();
      await Promise.all(servers.map(({ ended }) => ended));
    },
  };
}

/** A version is loaded once for each tree that runs of it have. */
const keyOf = ({ version_key: key }: ReceivedVersion, code: RunCode | undefined): string =>
  code ? `${key} ${code.tree}` : key;

/** In an image that was built for it, the repository is the working directory, wherever it was compiled. */
function folderOf({ dags_folder: folder, bundle }: ReceivedVersion, env: Environment): string {
  const isElsewhere = bundle !== null && (env['SVC_DEPENDENCIES'] === 'installed' || !existsSync(folder));
  return isElsewhere ? process.cwd() : folder || process.cwd();
}

const locationOf = (folder: string, path: string): string => (isAbsolute(path) ? path : join(folder, path));

/** Refuses the version with a clear message, because Python would only say that there is no such module. */
function refuseMissingModules(folder: string, { modules }: ReceivedVersion): void {
  const missing = modules.filter(({ path }) => !existsSync(locationOf(folder, path)));
  if (missing.length === 0) return;
  const names = missing.map(({ name, path }) => `${name} (${path})`).join(', ');
  throw new LoadFailure(
    `the DAG file imports ${names}, which this worker does not have: a remote worker is given the DAG file itself, not the modules beside it. Install them from a package (dependencies), or have the folder at ${folder} on ${hostname()}`,
    '',
  );
}

/** The version contains the DAG file itself. Modules next to it are read from the disk as they are now. */
async function changedModules(folder: string, version: ReceivedVersion): Promise<string[]> {
  const notes = await Promise.all(
    version.modules.map(async ({ name, path, sha256 }) => {
      const text = await readFile(locationOf(folder, path)).catch(() => undefined);
      if (text === undefined) return [`module ${name} (${path}) is not there any more`];
      const isSame = createHash('sha256').update(text).digest('hex') === sha256;
      const number = version.version_number;
      return isSame
        ? []
        : [`module ${name} (${path}) was changed after version ${number} was made: the file of now is used`];
    }),
  );
  return notes.flat();
}
