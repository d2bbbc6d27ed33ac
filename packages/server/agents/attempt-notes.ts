/** Lines that the control plane adds to the log of an attempt when no agent can say what happened to it. */
import { nowIso } from '@svc/spec/clock.ts';
import type { Database } from '../db/database.ts';
import { findRunId } from '../db/dag-runs/run-lookups.ts';
import type { AgentLog, LogSink } from './collaborators.ts';
import { logKeyOf } from './attempt-logs.ts';
import type { AttemptIdentity } from './credentials.ts';

export type NoteAttempt = (
  identity: Omit<AttemptIdentity, 'issuedAt'>,
  text: string,
  level: 'info' | 'warning' | 'error',
) => Promise<void>;

/** When an agent writes at the same moment, the end of the log has moved, and it is looked up again. */
const TRIES = 5;

/** Never throws: a line that cannot be written goes to the log of the control plane. */
export function createAttemptNotes(input: { db: Database; logs: LogSink; log: AgentLog }): NoteAttempt {
  const { db, logs, log } = input;
  return async (identity, text, level) => {
    if (identity.kind !== 'task') return log.warn({ code: 'SVC4008', [identity.kind]: identity.attemptId }, text);
    try {
      const runId = await findRunId(db.tenant(identity.tenantId), identity.run);
      if (runId === undefined) return;
      const key = logKeyOf({ ...identity, issuedAt: 0 }, runId);
      const line = Buffer.from(
        `${JSON.stringify({ timestamp: nowIso(), level, event: text, logger: 'svc.executor' })}\n`,
      );
      for (let tries = 0; tries < TRIES; tries += 1) {
        const offset = await logs.size(key);
        const { length } = await logs.append(key, offset, line, { isLast: true });
        if (length === offset + line.length) return;
      }
    } catch (error) {
      log.warn(
        { code: 'SVC4009', err: error, attempt: identity.attemptId, line: text },
        'a line could not be added to the log of a task',
      );
    }
  };
}
