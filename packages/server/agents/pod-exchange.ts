/**
 * A pod's own token for the credential of its attempt (`auth.agent_token_transport` exchange). The cluster says which pod
 * presents it; the attempt is the one the pod was made for, and nobody else's. Each pod gets it once: whoever copies the token
 * out of a pod that has begun finds it used up.
 */
import type { Database } from '../db/database.ts';
import { takeExchange } from '../db/attempts/token-exchanges.ts';
import { recordAudit } from '../db/identity/audit-log.ts';
import type { Attempts } from '../engine/shared/attempts.ts';
import type { TriggerReports } from '../engine/triggers/trigger-reports.ts';
import { refOf } from './triggerers/triggerer-calls.ts';
import type { AgentLog } from './collaborators.ts';
import type { AgentCredentials, AttemptIdentity } from './credentials.ts';
import { RpcError } from './rpc-errors.ts';

/** Whom the cluster vouches for. */
export type ReviewedPod = { name: string; uid: string; identity: Omit<AttemptIdentity, 'issuedAt'> };

/** Throws an `RpcError` for a token that is none, or of a pod that is none of ours. */
export type ReviewPod = (token: string) => Promise<ReviewedPod>;

export const NO_EXCHANGE: ReviewPod = async () => {
  throw new RpcError('unauthenticated', 'tokens are not exchanged here: auth.agent_token_transport is not exchange');
};

export function createPodExchange(input: {
  db: Database;
  attempts: Pick<Attempts, 'findLive'>;
  credentials: Pick<AgentCredentials, 'issueAttempt'>;
  triggers?: (() => Pick<TriggerReports, 'isLive'>) | undefined;
  log: AgentLog;
}): (pod: ReviewedPod) => Promise<{ token: string }> {
  const { db, attempts, credentials, log } = input;

  async function refuse({ name, uid, identity }: ReviewedPod, reason: string): Promise<never> {
    log.warn({ pod: name, uid, attempt: identity.attemptId, reason }, 'the token of a pod was not exchanged');
    await recordAudit(
      db.tenant(identity.tenantId),
      { name: `pod ${name}`, clientIp: '', requestId: identity.attemptId },
      {
        event: 'agent_token_refused',
        objectKind: 'pod',
        objectId: name,
        dagId: identity.dagId,
        taskId: identity.taskId,
        mapIndex: identity.mapIndex,
        detail: { uid, reason },
      },
    );
    throw new RpcError('denied', reason);
  }

  return async (pod) => {
    const { identity } = pod;
    if (identity.kind === 'task') {
      const state = (await attempts.findLive([identity])).get(identity.attemptId);
      if (state === undefined) return refuse(pod, 'the attempt of this pod is over');
      if (state === 'running') return refuse(pod, 'the attempt of this pod has begun already');
    }
    if (identity.kind === 'triggerer' && !(await input.triggers?.().isLive(refOf(identity))))
      return refuse(pod, 'the triggerer of this pod is not needed any more');
    const isFirst = await takeExchange(db.tenant(identity.tenantId), {
      podUid: pod.uid,
      attemptId: identity.attemptId,
    });
    if (!isFirst) return refuse(pod, 'the token of this pod was exchanged before');
    return { token: await credentials.issueAttempt(identity) };
  };
}
