/** Lite's own Postgres: starts it, prepares it for svc, watches it, and explains its failures. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openLocalCluster } from '@svc/local-postgres/local-cluster.ts';
import type { LocalCluster } from '@svc/local-postgres/local-cluster.ts';
import { CliError, messageOf, systemCode } from '../cli-error.ts';
import { unusable } from './data-directory.ts';
import type { DataDirectory } from './data-directory.ts';

const DATABASE = 'svc';
const ROLE = 'svc';
const DISK_FULL = '53100';
const WATCH_MS = 1_000;
const RESTART_PAUSE_MS = 5_000;

export type LitePostgres = {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
  /** For a process that ends now: tells Postgres to stop, and does not wait. */
  abandon(): void;
};

export async function startLitePostgres(input: {
  directory: DataDirectory;
  /** The password of svc's role. The role is not a superuser, so a faulty query cannot affect the machine. */
  password: string;
  onLog: (text: string) => void;
  onRestart: (message: string) => void;
}): Promise<LitePostgres> {
  const { directory, password, onLog, onRestart } = input;
  let cluster: LocalCluster | undefined;
  try {
    cluster = await openLocalCluster({ dataDir: directory.postgres, onLog: (text) => onLog(`${text}\n`) });
    await cluster.start();
    await ensureDatabase(cluster, password);
  } catch (error) {
    await cluster?.stop('immediate');
    throw explainFailure(error, directory);
  }
  const watching = watch(cluster, directory, onRestart);
  const running = cluster;
  return {
    url: running.url(DATABASE, { name: ROLE, password }),
    port: running.port,
    async stop() {
      watching.abort();
      await running.stop('fast');
    },
    abandon() {
      watching.abort();
      if (running.pid !== undefined) process.kill(running.pid, 'SIGINT');
    },
  };
}

/** The URL of a Postgres that another lite process has started. */
export const runningUrl = (input: { port: number; password: string }): string =>
  `postgres://${ROLE}:${encodeURIComponent(input.password)}@127.0.0.1:${input.port}/${DATABASE}?sslmode=disable`;

async function ensureDatabase(cluster: LocalCluster, password: string): Promise<void> {
  await cluster.asSuperuser(async (client) => {
    const literal = client.escapeLiteral(password);
    const role = await client.query('select 1 from pg_roles where rolname = $1', [ROLE]);
    // Set at every start, so that a restored secrets directory works again.
    await client.query(`${role.rowCount === 0 ? 'create' : 'alter'} role ${ROLE} login password ${literal}`);
    const database = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (database.rowCount === 0) await client.query(`create database ${DATABASE} owner ${ROLE}`);
  });
}

/** Restarts Postgres if it is killed (memory pressure, a person). Until it answers, requests get 503. */
function watch(cluster: LocalCluster, directory: DataDirectory, onRestart: (message: string) => void): AbortController {
  const stopping = new AbortController();
  const { signal } = stopping;
  void (async () => {
    while (!signal.aborted) {
      await sleep(WATCH_MS, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted || isRunning(cluster.pid)) continue;
      onRestart('Postgres has ended unexpectedly: starting it again');
      try {
        await cluster.start();
        onRestart('Postgres is back');
      } catch (error) {
        const { message, hint } = explainFailure(error, directory);
        onRestart(`${message}: ${hint ?? ''}`);
        await sleep(RESTART_PAUSE_MS, undefined, { signal, ref: false }).catch(() => {});
      }
    }
  })();
  return stopping;
}

function isRunning(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Recognises a full disk in errors of the system, in the log of Postgres, and in its error codes for queries. */
export function isDiskFull(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return (
    ['ENOSPC', 'EDQUOT'].includes(systemCode(error) ?? '') ||
    code === DISK_FULL ||
    /No space left on device|could not write .* disk full|Disk quota exceeded/i.test(messageOf(error))
  );
}

/** Postgres explains a failed start precisely but at length. This message says what a person must do. */
export function explainFailure(error: unknown, directory: DataDirectory): CliError {
  const text = messageOf(error);
  const versions = /initialized by PostgreSQL version (\S+), which is not compatible with this version (\S+)/.exec(
    text,
  );
  if (versions) {
    return new CliError(
      `the data in ${directory.postgres} was written by Postgres ${versions[1]}, but this svc comes with ${versions[2]?.replace(/\.$/, '')}`,
      {
        cause: error,
        hint: `run the svc version that wrote it, or begin with an empty data directory: --data-dir, or move ${directory.path} away`,
      },
    );
  }
  if (isDiskFull(error)) return unusable(directory.path, Object.assign(new Error(text), { code: 'ENOSPC' }));
  if (systemCode(error) !== undefined) return unusable(directory.path, error);
  if (/Permission denied/i.test(text)) {
    return unusable(directory.path, Object.assign(new Error(text), { code: 'EACCES' }));
  }
  const reason = /(?:FATAL|PANIC): .*/.exec(text)?.[0] ?? text.split('\n', 1)[0];
  return new CliError(`Postgres does not start: ${reason}`, {
    cause: error,
    hint: `details: ${directory.postgresLog}`,
  });
}
