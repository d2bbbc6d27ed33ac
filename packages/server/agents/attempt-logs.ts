/** Writes the log lines of attempts. */
import { LRUCache } from 'lru-cache';
import type { Database } from '../db/database.ts';
import { findRunId } from '../db/dag-runs/run-lookups.ts';
import type { LogKey } from '../logs/log-key.ts';
import type { AgentLog, LogSink } from './collaborators.ts';
import type { AttemptIdentity } from './credentials.ts';
import { RpcError } from './rpc-errors.ts';

export type AttemptLogs = {
  /** Returns the new length of the log. A length below the offset means that there is a gap. */
  append(identity: AttemptIdentity, offset: number, bytes: Uint8Array, options?: { isLast: boolean }): Promise<number>;
  /** Prepares the log of an attempt that begins, after the current call has been answered. */
  prepare(identity: AttemptIdentity): void;
  /** Returns the id of the attempt's run as users know it. Throws when the run was deleted. */
  runIdOf(identity: AttemptIdentity): Promise<string>;
  rememberRun(identity: AttemptIdentity, runId: string): void;
};

const RUNS_KEPT = 10_000;

const runKeyOf = ({ tenantId, run }: AttemptIdentity): string => `${tenantId}/${run}`;

export function createAttemptLogs(input: { db: Database; logs: LogSink; log: AgentLog }): AttemptLogs {
  const { db, logs, log } = input;
  const runIds = new LRUCache<string, string>({ max: RUNS_KEPT });

  function rememberRun(identity: AttemptIdentity, runId: string): void {
    runIds.set(runKeyOf(identity), runId);
  }

  async function runIdOf(identity: AttemptIdentity): Promise<string> {
    const known = runIds.get(runKeyOf(identity));
    if (known !== undefined) return known;
    if (identity.run === 0) return ''; // a question about a timetable
    const runId = await findRunId(db.tenant(identity.tenantId), identity.run);
    if (runId === undefined) throw new RpcError('stale', 'the run of this attempt has been deleted');
    rememberRun(identity, runId);
    return runId;
  }

  async function makeReady(identity: AttemptIdentity): Promise<void> {
    await logs.prepare?.(logKeyOf(identity, await runIdOf(identity)));
  }

  return {
    rememberRun,
    runIdOf,
    prepare(identity) {
      if (identity.kind !== 'task' || !logs.prepare) return;
      setImmediate(() => void makeReady(identity).catch(() => {})); // the append meets the same error and reports it
    },
    async append(identity, offset, bytes, options) {
      // Callbacks and triggerers belong to no try, so they have no log of their own.
      if (identity.kind !== 'task') {
        for (const line of entriesOf(Buffer.from(bytes).toString('utf8').trimEnd())) {
          log.info(
            { dag: identity.dagId, task: identity.taskId, [identity.kind]: identity.attemptId, line },
            identity.kind,
          );
        }
        return offset + bytes.length;
      }
      const runId = await runIdOf(identity);
      return (await logs.append(logKeyOf(identity, runId), offset, bytes, options)).length;
    },
  };
}

/** A chunk may be a million empty lines, and a log entry for each would take seconds. */
const MAX_ENTRIES = 1_000;

/** Returns the lines one by one. Beyond the limit, the rest is one entry. */
function entriesOf(text: string): string[] {
  const lines = text.split('\n', MAX_ENTRIES);
  const length = lines.reduce((sum, line) => sum + line.length + 1, 0);
  return length > text.length ? lines : [...lines, text.slice(length)];
}

export const logKeyOf = (identity: AttemptIdentity, runId: string): LogKey => ({
  tenantId: identity.tenantId,
  dagId: identity.dagId,
  runId,
  taskId: identity.taskId,
  mapIndex: identity.mapIndex,
  tryNumber: identity.tryNumber,
});
