/**
 * Heartbeats renew the leases and credentials of a worker's attempts, and tell it which of them must stop. The work is
 * cooperative: a call with many credentials does not block other calls.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Beat } from '@svc/proto/agent-service.ts';
import { MAX_HEARTBEAT_TOKENS } from '@svc/proto/limits.ts';
import type { Attempts } from '../engine/shared/attempts.ts';
import type { AgentLog } from './collaborators.ts';
import type { AgentCredentials, CredentialFault, VerifiedAttempt } from './credentials.ts';
import { RpcError } from './rpc-errors.ts';

type Tools = {
  attempts: Pick<Attempts, 'heartbeat' | 'lost'>;
  credentials: AgentCredentials;
  onAlive: (attemptId: string) => void;
  /** Called when it is the current attempt. */
  onCurrent: (attemptId: string) => void;
  isCallbackRunning: (identity: VerifiedAttempt) => Promise<boolean>;
  /** Returns the triggerers that continue. */
  renewTriggerers: (identities: readonly VerifiedAttempt[]) => Promise<ReadonlySet<string>>;
  log: AgentLog;
};

/** Credentials verified per turn of the event loop. */
const IN_ONE_TURN = 20;

const stopWith = (reason: string): Beat => ({ stop: true, reason, token: '' });

/**
 * Returns one answer per credential, in the same order. Callbacks have no lease, so only their credential is renewed.
 */
export async function answerHeartbeat(
  tools: Tools,
  { tokens, pids }: { tokens: readonly string[]; pids: readonly number[] },
): Promise<Beat[]> {
  if (tokens.length > MAX_HEARTBEAT_TOKENS || pids.length > MAX_HEARTBEAT_TOKENS) {
    throw new RpcError('invalid', `Heartbeat takes at most ${MAX_HEARTBEAT_TOKENS} credentials in one call`);
  }
  const identities = await verifyInTurns(tools.credentials, tokens);
  const tasks = identities.flatMap((identity, index) =>
    typeof identity === 'string' || identity.kind !== 'task' ? [] : [{ ...identity, pid: pids[index] || null }],
  );
  const triggerers = identities.filter(
    (identity): identity is VerifiedAttempt => typeof identity !== 'string' && identity.kind === 'triggerer',
  );
  const goOn = triggerers.length === 0 ? new Set<string>() : await tools.renewTriggerers(triggerers);
  const stopping = new Set([
    ...(tasks.length === 0 ? [] : await tools.attempts.heartbeat(tasks)),
    ...triggerers.map(({ attemptId }) => attemptId).filter((id) => !goOn.has(id)),
  ]);
  return Promise.all(identities.map((identity) => beatOf(tools, identity, stopping)));
}

async function verifyInTurns(
  credentials: AgentCredentials,
  tokens: readonly string[],
): Promise<(VerifiedAttempt | CredentialFault)[]> {
  const identities: (VerifiedAttempt | CredentialFault)[] = [];
  for (let from = 0; from < tokens.length; from += IN_ONE_TURN) {
    if (from > 0) await nextTurn();
    const some = tokens.slice(from, from + IN_ONE_TURN);
    identities.push(...(await Promise.all(some.map((token) => credentials.verifyAttempt(token)))));
  }
  return identities;
}

async function beatOf(
  tools: Tools,
  identity: VerifiedAttempt | CredentialFault,
  stopping: ReadonlySet<string>,
): Promise<Beat> {
  if (typeof identity === 'string') return stopWith(`the credential is ${identity}`);
  tools.onAlive(identity.attemptId);
  if (stopping.has(identity.attemptId)) return stopWith('the attempt is not the current one any more');
  if (identity.kind === 'callback' && !(await tools.isCallbackRunning(identity)))
    return stopWith('the callback is over');
  tools.onCurrent(identity.attemptId);
  return renewed(tools, identity);
}

async function renewed({ attempts, credentials, log }: Tools, identity: VerifiedAttempt): Promise<Beat> {
  const token = await credentials.renewAttempt(identity);
  if (token !== 'outlived') return { stop: false, reason: '', token: token ?? '' };
  const { dagId, taskId, attemptId } = identity;
  log.warn(
    { code: 'SVC4006', dag: dagId, task: taskId, attempt: attemptId },
    'an attempt outlived its credential and is ended',
  );
  if (identity.kind === 'task') await attempts.lost(identity, { cause: 'credential_expired' });
  return stopWith('the attempt outlived auth.max_attempt_credential_lifetime');
}
