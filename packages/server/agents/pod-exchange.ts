/**
 * Exchanges a pod's own token for the credential of its attempt (`auth.agent_token_transport` exchange). The cluster
 * says which pod presents the token, and the pod was created for exactly one attempt. Each pod can do this once: a
 * token that is copied from a running pod is used up.
 */
import type { Database } from '../db/database.ts';
import { takeExchange } from '../db/attempts/token-exchanges.ts';
import { recordAudit } from '../db/identity/audit-log.ts';
import type { Attempts } from '../engine/shared/attempts.ts';
import { versionKey } from '../engine/shared/dag-graphs.ts';
import type { TriggerReports } from '../engine/triggers/trigger-reports.ts';
import { refOf } from './triggerers/triggerer-calls.ts';
import type { AgentLog } from './collaborators.ts';
import type { AgentCredentials, AttemptIdentity, WorkerScope } from './credentials.ts';
import { RpcError } from './rpc-errors.ts';

/** What the cluster has confirmed: the pod of one attempt, or of a warm worker. */
export type ReviewedPod = {
  name: string;
  uid: string;
  of:
    | { kind: 'attempt'; identity: Omit<AttemptIdentity, 'issuedAt'> }
    | { kind: 'worker'; workerId: string; scope: WorkerScope };
};

/** Throws an `RpcError` for an invalid token, and for a pod that this installation did not create. */
export type ReviewPod = (token: string) => Promise<ReviewedPod>;

export const NO_EXCHANGE: ReviewPod = async () => {
  throw new RpcError('unauthenticated', 'tokens are not exchanged here: auth.agent_token_transport is not exchange');
};

export function createPodExchange(input: {
  db: Database;
  attempts: Pick<Attempts, 'findLive'>;
  credentials: Pick<AgentCredentials, 'issueAttempt' | 'issueWorker'>;
  triggers?: (() => Pick<TriggerReports, 'isLive'>) | undefined;
  log: AgentLog;
}): (pod: ReviewedPod) => Promise<{ token: string; version_key: string }> {
  const { db, attempts, credentials, log } = input;

  async function refuse({ name, uid, of }: ReviewedPod, reason: string): Promise<never> {
    const about = of.kind === 'attempt' ? of.identity : { ...of.scope, attemptId: of.workerId };
    log.warn({ code: 'SVC4007', pod: name, uid, for: about.attemptId, reason }, 'the token of a pod was not exchanged');
    await recordAudit(
      db.tenant(about.tenantId),
      { name: `pod ${name}`, clientIp: '', requestId: about.attemptId },
      {
        event: 'agent_token_refused',
        objectKind: 'pod',
        objectId: name,
        ...(about.dagId !== undefined && { dagId: about.dagId }),
        ...(of.kind === 'attempt' && { taskId: of.identity.taskId, mapIndex: of.identity.mapIndex }),
        detail: { uid, reason },
      },
    );
    throw new RpcError('denied', reason);
  }

  async function takeOnce(pod: ReviewedPod, tenantId: string, attemptId: string): Promise<void> {
    const isFirst = await takeExchange(db.tenant(tenantId), { podUid: pod.uid, attemptId });
    if (!isFirst) await refuse(pod, 'the token of this pod was exchanged before');
  }

  return async (pod) => {
    if (pod.of.kind === 'worker') {
      const { workerId, scope } = pod.of;
      await takeOnce(pod, scope.tenantId, workerId);
      const { tenantId, dagId = '', versionNumber = 0 } = scope;
      const token = await credentials.issueWorker(workerId, scope);
      return { token, version_key: versionKey({ tenantId, dagId, versionNumber }) };
    }
    const { identity } = pod.of;
    if (identity.kind === 'task') {
      const state = (await attempts.findLive([identity])).get(identity.attemptId);
      if (state === undefined) return refuse(pod, 'the attempt of this pod is over');
      if (state === 'running') return refuse(pod, 'the attempt of this pod has begun already');
    }
    if (identity.kind === 'triggerer' && !(await input.triggers?.().isLive(refOf(identity))))
      return refuse(pod, 'the triggerer of this pod is not needed any more');
    await takeOnce(pod, identity.tenantId, identity.attemptId);
    return { token: await credentials.issueAttempt(identity), version_key: '' };
  };
}
