/** Lite's own Postgres: started, made ready for svc, watched, and its failures explained. */
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
  /** For a process that ends now: asks Postgres to leave, and does not wait. */
  abandon(): void;
};

export async function startLitePostgres(input: {
  directory: DataDirectory;
  /** Of the role svc connects as, which is no superuser: a query gone wrong must not reach the machine. */
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

/** The way to a Postgres that another process of lite has started. */
export const runningUrl = (input: { port: number; password: string }): string =>
  `postgres://${ROLE}:${encodeURIComponent(input.password)}@127.0.0.1:${input.port}/${DATABASE}?sslmode=disable`;

async function ensureDatabase(cluster: LocalCluster, password: string): Promise<void> {
  await cluster.asSuperuser(async (client) => {
    const literal = client.escapeLiteral(password);
    const role = await client.query('select 1 from pg_roles where rolname = $1', [ROLE]);
    // Set at every start, so that a secrets directory put back from elsewhere works again.
    await client.query(`${role.rowCount === 0 ? 'create' : 'alter'} role ${ROLE} login password ${literal}`);
    const database = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (database.rowCount === 0) await client.query(`create database ${DATABASE} owner ${ROLE}`);
  });
}

/** Postgres may be killed under us (memory pressure, a person). Requests get 503 meanwhile; we bring it back. */
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

/** As the system says it, as Postgres does in its log, and as its code for a query that could not be carried out. */
export function isDiskFull(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return (
    ['ENOSPC', 'EDQUOT'].includes(systemCode(error) ?? '') ||
    code === DISK_FULL ||
    /No space left on device|could not write .* disk full|Disk quota exceeded/i.test(messageOf(error))
  );
}

/** What Postgres says about a start that failed is precise and long; this is what a person has to do about it. */
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
