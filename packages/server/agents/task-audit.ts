/** Entries of the audit log about actions of tasks. The actor is "task"; the entry's own columns name the task. */
import { recordAudit } from '../db/identity/audit-log.ts';
import type { AttemptIdentity } from './credentials.ts';

type Transaction = Parameters<typeof recordAudit>[0];

export type TaskAudit = { event: string; objectKind: string; objectId: string; detail?: Record<string, unknown> };

/** `runId`: as users know it. */
export function recordTaskAudit(
  trx: Transaction,
  { identity, runId }: { identity: AttemptIdentity; runId: string },
  entry: TaskAudit,
): Promise<void> {
  const { dagId, taskId, mapIndex, attemptId } = identity;
  const actor = { name: 'task', clientIp: '', requestId: attemptId };
  return recordAudit(trx, actor, { ...entry, dagId, runId, taskId, mapIndex });
}
