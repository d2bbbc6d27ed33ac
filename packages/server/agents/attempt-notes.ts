/** Lines that the control plane itself adds to the log of an attempt: what became of it when no agent can say. */
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

/** An agent that writes at the same moment has moved the end of the log: then it is looked for again. */
const TRIES = 5;

/** Never throws: a line that cannot be written is in our own log. */
export function createAttemptNotes(input: { db: Database; logs: LogSink; log: AgentLog }): NoteAttempt {
  const { db, logs, log } = input;
  return async (identity, text, level) => {
    if (identity.kind !== 'task') return log.warn({ [identity.kind]: identity.attemptId }, text);
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
        { err: error, attempt: identity.attemptId, line: text },
        'a line could not be added to the log of a task',
      );
    }
  };
}
