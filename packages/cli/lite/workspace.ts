/**
 * The workspace of lite. It is compiled and registered at the start, and again whenever a file in it changes. A broken
 * file becomes an import error of its DAG; everything else continues.
 *
 *   begun ──▶ compiled while Postgres and the control plane start ──open──▶ registered ──▶ watched … ──▶ closed
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Compiler } from '@svc/compiler/compiler.ts';
import { createReadingThread } from '@svc/compiler/reading/reading-thread.ts';
import { createWorkspaceSync } from '@svc/compiler/sync-workspace.ts';
import type { Registrar, SyncLog, SyncSummary, UnitOutcome, WorkspaceSync } from '@svc/compiler/sync-workspace.ts';
import type { RunningServer } from '@svc/server/server.ts';
import { beat, recordStop } from '@svc/server/db/processes/heartbeats.ts';
import { DEFAULT_TENANT, findTenantByName } from '@svc/server/db/identity/tenants.ts';
import type { WorkspaceCompiler, WorkspaceUnit } from '@svc/server/workspace/compiler.ts';
import { messageOf } from '../cli-error.ts';
import { VERSION } from '../version.ts';
import { createDatabaseRegistrar } from '../projects/database-registrar.ts';
import { editorUnit } from './editor-unit.ts';
import { watchFolder } from './watch-folder.ts';
import { watchValues } from './watch-values.ts';
import type { WorkspaceValues } from './workspace-values.ts';

export type LiteWorkspace = {
  readonly first: SyncSummary;
  /** Compiles files that the editor has saved. */
  readonly compiler: WorkspaceCompiler;
  /** Of each unit, the last time it was compiled. */
  outcomes(): readonly UnitOutcome[];
  close(): Promise<void>;
};

/** The actor in the audit log for automatic actions of lite. */
const ACTOR = { name: 'svc lite', clientIp: 'local', requestId: 'workspace' };

/** An editor writes a file in several steps, and a checkout writes many files, so changes are debounced. */
const QUIET_MS = 200;
const BEAT_EVERY_MS = 5_000;
const SHOWN_FAILURES = 5;
const FILES_READ_FIRST = 3;
/** The start waits this long for the first reading. A longer one continues in the background. */
const FIRST_READING_MS = 10_000;

/** A workspace that is being read while the control plane starts. */
export type BegunWorkspace = {
  open(server: Pick<RunningServer, 'db' | 'compileValues'>): Promise<LiteWorkspace>;
  /** Closes a workspace that will not be opened. */
  close(): Promise<void>;
};

type WorkspaceInput = {
  workspace: string;
  compiler: Compiler;
  /** The executors that `executor=` may name. If absent, it may name any. */
  executors?: readonly string[];
  /** What the compiler answers files with. */
  values: WorkspaceValues;
  log: SyncLog;
};

export function beginWorkspace(input: WorkspaceInput): BegunWorkspace {
  const { compiler, values } = input;
  const workspace = resolve(input.workspace);
  let isClosed = false;
  /** After a stop, failures are expected and not logged. */
  const log: SyncLog = {
    info: (message) => void (isClosed || input.log.info(message)),
    warn: (message) => void (isClosed || input.log.warn(message)),
    error: (message) => void (isClosed || input.log.error(message)),
  };
  const { promise: opened, resolve: give, reject: refuse } = Promise.withResolvers<Registrar>();
  opened.catch(() => {}); // reported to the caller of a registration
  // Files are read in a thread, because their content must not block the control plane in this process.
  const reader = createReadingThread();
  const sync = createWorkspaceSync({ workspace, compiler, reader, registrar: registrarOnceThere(opened), log });

  let timer: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  const changed = new Set<string>();
  const readAgain = async (): Promise<void> => {
    const files = changed.size > FILES_READ_FIRST ? [] : [...changed];
    changed.clear();
    // A file that was just saved does not wait for the other files of a large workspace.
    for (const file of files) await sync.syncFile(join(workspace, file));
    await sync.syncAll();
  };
  const resync = (path?: string): void => {
    clearTimeout(timer);
    if (isClosed) return;
    if (path !== undefined) changed.add(path);
    timer = setTimeout(() => {
      const reading = readAgain().catch((error: unknown) =>
        log.error(`the workspace was not read: ${messageOf(error)}`),
      );
      // An earlier reading may still wait for its file, so closing waits for both.
      running = Promise.all([running, reading]);
    }, QUIET_MS);
  };
  // Watching starts before the first reading, so that no change is missed.
  const watcher = watchFolder({ folder: workspace, onChange: resync, warn: log.warn });
  const reading = sync.syncAll();
  // One slow file must not keep people from all others.
  running = reading.catch((error: unknown) => log.error(`the workspace was not read: ${messageOf(error)}`));
  const units = (): WorkspaceUnit[] => sync.outcomes().map((outcome) => editorUnit(workspace, outcome));

  function endWatching(): Promise<void> {
    isClosed = true;
    clearTimeout(timer);
    return watcher.close();
  }

  /** Closes a workspace that was never opened, so there is nothing to finish. */
  async function giveUp(): Promise<void> {
    const ending = endWatching();
    refuse(new Error('the control plane has not come up'));
    values.giveUp();
    await Promise.all([ending, compiler.close(), reader.close()]);
  }

  async function open({ db, compileValues }: Pick<RunningServer, 'db' | 'compileValues'>): Promise<LiteWorkspace> {
    const tenant = await findTenantByName(db.shared, DEFAULT_TENANT);
    if (!tenant) throw new Error('the control plane is not ready yet');
    give(createDatabaseRegistrar({ db: db.tenant(tenant.id), actor: ACTOR, executors: input.executors }));
    const current = compileValues(tenant.id);
    values.open(current);
    const first = await Promise.race([reading, soFarAfter(sync, FIRST_READING_MS)]);
    // Lite compiles changes, so it sends heartbeats as the DAG processor of its control plane.
    const identity = { processId: randomUUID(), hostname: hostname(), version: VERSION };
    const sayAlive = (): void => void beat(db, identity, 'dag_processor').catch(() => {});
    const valueWatch = watchValues({ sync, values: current, warn: log.warn });
    const beating = setInterval(sayAlive, BEAT_EVERY_MS);
    sayAlive();
    return {
      first,
      outcomes: sync.outcomes,
      compiler: {
        units,
        async compile(path) {
          await sync.syncFile(join(workspace, path));
          return units();
        },
      },
      async close() {
        await endWatching();
        await valueWatch.close();
        clearInterval(beating);
        await recordStop(db, identity.processId).catch(() => {}); // the database may have stopped first
        await running;
        await Promise.all([compiler.close(), reader.close()]);
      },
    };
  }

  return {
    close: giveUp,
    open: (server) =>
      open(server).catch(async (error: unknown) => {
        await giveUp();
        throw error;
      }),
  };
}

/** Registrations wait for the control plane. */
function registrarOnceThere(opened: Promise<Registrar>): Registrar {
  return {
    register: async (...what) => (await opened).register(...what),
    reportError: async (error) => (await opened).reportError(error),
    clearError: async (file) => (await opened).clearError(file),
    active: async () => (await opened).active(),
    markStale: async (dagIds) => (await opened).markStale(dagIds),
  };
}

const soFarAfter = async (sync: WorkspaceSync, milliseconds: number): Promise<SyncSummary> => {
  await sleep(milliseconds, undefined, { ref: false });
  return sync.soFar();
};

/** One line for the list of stages. */
export function describeSync({ registered, failed, pending = [] }: SyncSummary): string {
  const added = registered.filter((dag) => dag.isNew).length;
  const dags = `${registered.length} DAG${registered.length === 1 ? '' : 's'}`;
  const news = added === 0 ? 'unchanged' : `${added} new version${added === 1 ? '' : 's'}`;
  const broken = failed.length === 0 ? '' : `, ${failed.length} that do not compile`;
  const open = pending.length === 0 ? '' : `, still being compiled: ${pending.slice(0, SHOWN_FAILURES).join(', ')}`;
  return `${dags} in the workspace, ${news}${broken}${open}`;
}

/** Text for the terminal, because the log does not show yet what the first reading found. */
export function describeFailures({ failed }: SyncSummary): string[] {
  const shown = failed.slice(0, SHOWN_FAILURES).map(({ name, message }) => `${name} does not compile:\n${message}`);
  const more = failed.length - shown.length;
  return more > 0 ? [...shown, `${more} more do not compile: the web UI lists them`] : shown;
}
