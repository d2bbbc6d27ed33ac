/**
 * Decides whether an attempt is the current one and running. Otherwise its reports and calls no longer count:
 *
 *   - its writes change nothing (each is fenced by its own statement, see db/attempts/attempt-xcoms.ts);
 *   - its calls are refused;
 *   - secrets are denied when `auth.secret_liveness_mode` is `enforce`. With `observe` they are still delivered, and
 *     the log and the audit log record that `enforce` would have denied them.
 */
import { isCallbackRunning, isTaskRunning } from '../db/attempts/live-attempts.ts';
import type { Database } from '../db/database.ts';
import type { AgentLog } from './collaborators.ts';
import type { AttemptIdentity } from './credentials.ts';
import { RpcError } from './rpc-errors.ts';
import { recordTaskAudit } from './task-audit.ts';

export type LivenessMode = 'observe' | 'enforce';

export type Liveness = {
  isLive(identity: AttemptIdentity): Promise<boolean>;
  /** Called before a secret is delivered. */
  checkSecret(identity: AttemptIdentity, runId: string, secret: { kind: string; name: string }): Promise<void>;
};

export function createLiveness({ db, mode, log }: { db: Database; mode: LivenessMode; log: AgentLog }): Liveness {
  async function isLive(identity: AttemptIdentity): Promise<boolean> {
    if (identity.kind === 'trigger') return true; // the call of its triggerer was fenced
    const scoped = db.tenant(identity.tenantId);
    return identity.kind === 'callback'
      ? isCallbackRunning(scoped, identity.attemptId)
      : isTaskRunning(scoped, identity);
  }

  return {
    isLive,
    async checkSecret(identity, runId, { kind, name }) {
      if (await isLive(identity)) return;
      const { tenantId, dagId, taskId, attemptId } = identity;
      const code = mode === 'enforce' ? 'SVC4004' : 'SVC4005';
      log.warn(
        { code, tenant: tenantId, dag: dagId, run: runId, task: taskId, attempt: attemptId, [kind]: name, mode },
        mode === 'enforce'
          ? 'a secret was denied to an attempt that is over'
          : 'a secret is delivered to an attempt that is over: auth.secret_liveness_mode=enforce would deny it',
      );
      const asking = { identity, runId };
      await recordTaskAudit(db.tenant(tenantId), asking, {
        event: mode === 'enforce' ? 'secret_denied' : 'secret_would_be_denied',
        objectKind: kind,
        objectId: name,
        detail: { attempt_id: attemptId, reason: 'the task instance is not live' },
      });
      if (mode === 'enforce') {
        throw new RpcError('denied', `the attempt is over, so the ${kind} ${name} is not delivered to it any more`);
      }
    },
  };
}
